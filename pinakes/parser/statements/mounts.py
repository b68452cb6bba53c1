"""Statements that attach and detach catalogs, and secrets."""

from __future__ import annotations

from dataclasses import dataclass, field

from pinakes.core.names import Part
from pinakes.parser.statements.base import OptionValue, Statement


@dataclass(frozen=True, slots=True)
class Option:
    """KEY value, KEY = value or KEY 'value' in an option list; the key is upper case. The value is never in a repr."""

    key: str
    value: OptionValue = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Attach(Statement):
    """ATTACH [OR REPLACE] [DATABASE] [IF NOT EXISTS] 'location' [AS name] [(TYPE t, KEY value, …)]"""

    location: str = field(repr=False)
    name: Part | None = None
    options: tuple[Option, ...] = ()
    if_not_exists: bool = False
    or_replace: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Detach(Statement):
    """DETACH [DATABASE] [IF EXISTS] name"""

    name: Part
    if_exists: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateCatalog(Statement):
    """CREATE [OR REPLACE] CATALOG [IF NOT EXISTS] name (TYPE t, …) | USING type [WITH (…)]"""

    name: Part
    options: tuple[Option, ...] = ()
    if_not_exists: bool = False
    or_replace: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class DropCatalog(Statement):
    name: Part
    if_exists: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateSecret(Statement):
    """CREATE [OR REPLACE] [SHARED] [PERSISTENT] SECRET [IF NOT EXISTS] name (TYPE t, KEY value, …)"""

    name: Part
    options: tuple[Option, ...] = ()
    if_not_exists: bool = False
    or_replace: bool = False
    shared: bool = False
    persistent: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class DropSecret(Statement):
    name: Part
    if_exists: bool = False
