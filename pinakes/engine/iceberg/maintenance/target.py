"""The target table of a maintenance procedure, and the files that its `where` predicate may match."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pinakes.core.errors import InvalidArgument, NotSupportedError
from pinakes.core.names import quote
from pinakes.engine.iceberg.write.rewrite import Rewrite
from pinakes.parser import classify
from pinakes.parser.statements import Delete

if TYPE_CHECKING:
    from pinakes.engine.binding.namespaces import ResolvedTable
    from pinakes.engine.statement_context import Execution


def changing(execution: Execution, found: ResolvedTable, where: str | None) -> Rewrite:
    """Loads the current table. The predicate is parsed as that of a DELETE, but nothing is deleted."""
    name = ".".join(quote(part) for part in (found.place.mount.name, *found.place.namespace, found.name))
    statement = classify(f"DELETE FROM {name}" + ("" if where is None else f" WHERE {where}\n"))
    if not isinstance(statement, Delete) or statement.tables or statement.source or statement.placeholders:
        raise InvalidArgument(f"the condition may speak of columns of {found} alone: {where}")
    change = Rewrite.of(execution, statement, statement.target)
    if change.relation.is_restricted:
        raise NotSupportedError(f"{found} can only be rewritten by a user who may read all of it")
    return change


def candidates(change: Rewrite) -> list[int]:
    """Returns the files that may have a row that satisfies the predicate."""
    statement = change.statement
    assert isinstance(statement, Delete)
    if statement.where is None:
        return list(range(len(change.files)))
    return change.wanted(f"{change.sql} WHERE {change.text(statement.where)}\n")
