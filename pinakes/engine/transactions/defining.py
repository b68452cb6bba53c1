"""Records whether the statement of the current thread is a definition (CREATE, ALTER, DROP, COMMENT) or changes rows.

A definition that can't be part of the session's transaction takes effect immediately, with a warning; a change of rows
is refused in that case. `engine/run.py` sets this once for all handlers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pinakes.engine.catalogs.registry import Mount
    from pinakes.parser.statements import Statement

_TAGS = {
    "CreateTable": "CREATE TABLE",
    "CreateTableAs": "CREATE TABLE AS",
    "AlterTable": "ALTER TABLE",
    "RenameTable": "ALTER TABLE … RENAME",
    "DropTable": "DROP TABLE",
    "CreateView": "CREATE VIEW",
    "AlterView": "ALTER VIEW",
    "DropView": "DROP VIEW",
    "CreateFunction": "CREATE FUNCTION",
    "DropFunction": "DROP FUNCTION",
    "CreateNamespace": "CREATE SCHEMA",
    "AlterNamespace": "ALTER SCHEMA",
    "DropNamespace": "DROP SCHEMA",
    "CommentOn": "COMMENT ON",
}
"""The command tag by statement kind. The keys are names, so that a query does not load the statement classes."""


@dataclass(slots=True)
class Definition:
    """A statement that is a definition."""

    tag: str
    changes_table: bool
    """Whether it changes the metadata of an existing table."""
    at_once: Mount | None = None
    """The mount in which it took effect outside the transaction."""


_DEFINITION: ContextVar[Definition | None] = ContextVar("definition", default=None)


@contextmanager
def defining(statement: Statement, warn: Callable[[str], None]) -> Iterator[None]:
    tag = _TAGS.get(statement.kind)
    found = None if tag is None else Definition(tag, _changes_table(statement))
    token = _DEFINITION.set(found)
    try:
        yield
    finally:
        _DEFINITION.reset(token)
    if found is not None and found.at_once is not None:
        mount = found.at_once
        warn(
            f"{found.tag} took effect at once: it can't be part of this transaction in catalog '{mount.name}' "
            f"(type {mount.type}), and ROLLBACK does not undo it"
        )


def definition() -> Definition | None:
    """Returns the definition that runs in this thread, or None."""
    return _DEFINITION.get()


def _changes_table(statement: Statement) -> bool:
    replaces = statement.kind in ("CreateTable", "CreateTableAs") and bool(getattr(statement, "or_replace", False))
    return replaces or statement.kind in ("AlterTable", "CommentOn")
