"""Statements about the session: current namespace, settings, transactions, prepared statements, calls."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from pinakes.core.names import Name, Part
from pinakes.parser.statements.base import Span, Statement


@dataclass(frozen=True, slots=True, kw_only=True)
class Use(Statement):
    """USE [CATALOG | NAMESPACE | SCHEMA | DATABASE] name [IN catalog]; SET CATALOG name is the same as USE CATALOG"""

    what: Literal["ANY", "CATALOG", "NAMESPACE"]
    name: Name
    catalog: Part | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SetOption(Statement):
    """SET [SESSION | LOCAL | GLOBAL] name = | TO value; SET TIME ZONE value is name time_zone"""

    name: str
    value: str = field(repr=False)
    scope: Literal["SESSION", "GLOBAL"] = "SESSION"


@dataclass(frozen=True, slots=True, kw_only=True)
class ResetOption(Statement):
    """RESET [SESSION | GLOBAL] name | ALL (name None)"""

    name: str | None
    scope: Literal["SESSION", "GLOBAL"] = "SESSION"


@dataclass(frozen=True, slots=True, kw_only=True)
class Begin(Statement):
    """BEGIN | START TRANSACTION [READ ONLY | READ WRITE] [ISOLATION LEVEL …]"""

    read_only: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Commit(Statement):
    """COMMIT [WORK | TRANSACTION]"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rollback(Statement):
    """ROLLBACK [WORK | TRANSACTION], ABORT"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepare(Statement):
    """PREPARE name [(types)] AS|FROM statement; `body` is the inner statement."""

    name: Part
    body: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Execute(Statement):
    """EXECUTE name [(args) | USING args]; each argument is an expression."""

    name: Part
    arguments: tuple[Span, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Deallocate(Statement):
    """DEALLOCATE [PREPARE] name | ALL (name None)"""

    name: Part | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Kill(Statement):
    """KILL [QUERY] 'id'"""

    query_id: str


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument of a CALL: positional when `name` is None."""

    name: str | None
    value: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Call(Statement):
    """CALL [catalog.]system.procedure(a, name => b)"""

    procedure: Name
    arguments: tuple[Argument, ...] = ()
