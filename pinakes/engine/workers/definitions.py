"""CREATE TABLE and ALTER TABLE for catalogs that change tables themselves: converts the statements to Arrow schemas and
table actions.

A default is passed as the text that the user wrote; the worker interprets it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import count
from typing import TYPE_CHECKING

import pyarrow as pa

from pinakes.core import worker_tables as actions
from pinakes.core.catalog import SupportsTableActions
from pinakes.core.errors import ColumnExists, ColumnNotFound, NotSupportedError, listing
from pinakes.core.names import match
from pinakes.core.types.iceberg_arrow import arrow_type_of
from pinakes.core.types.sql import iceberg_type
from pinakes.core.types.syntax import SqlType
from pinakes.engine.binding.namespaces import ResolvedTable
from pinakes.engine.binding.view_columns import view_columns
from pinakes.parser import statements as s

if TYPE_CHECKING:
    from pinakes.engine.statement_context import Execution

COMMENT = "comment"
_NOTHING_ELSE = "a table of a worker has columns and a comment, and no"


def columns_of(statement: s.CreateTable, execution: Execution) -> pa.Schema:
    """Returns the columns of CREATE TABLE as an Arrow schema."""
    refused = {
        "primary key": statement.primary_key,
        "CHECK": statement.checks,
        "partitioning": statement.partitioning,
        "sort order": statement.sorting,
        "location": statement.location,
        "properties": [key for key, _ in statement.properties if key.lower() != COMMENT],
    }
    for what, given in refused.items():
        if given:
            raise NotSupportedError(f"{_NOTHING_ELSE} {what}")
    if statement.like is not None:
        return view_columns(execution, statement.like)
    fields = [_field(column, statement.text) for column in statement.columns]
    names = [f.name for f in fields]
    duplicate = next((name for name in names if names.count(name) > 1), None)
    if duplicate is not None:
        raise ColumnExists(f"column {duplicate} is there twice")
    return pa.schema(fields)


def comment_of(statement: s.CreateTable) -> str | None:
    given = {key.lower(): value for key, value in statement.properties}
    return statement.comment or given.get(COMMENT)


def alter_by_actions(
    found: ResolvedTable, catalog: SupportsTableActions, given: Sequence[s.AlterAction], text: str, execution: Execution
) -> None:
    """Applies the actions one after the other, in the order of the statement."""
    for action in given:
        for change in _changes_of(action, found, text, execution):
            catalog.alter_table(found.place.namespace, found.name, change)


def _changes_of(
    action: s.AlterAction, found: ResolvedTable, text: str, execution: Execution
) -> Iterable[actions.TableAction]:
    def column(path: s.Path) -> str:
        return _column(path, found, execution)

    match action:
        case s.AddColumn():
            if len(action.path) > 1 or action.first or action.after is not None:
                raise NotSupportedError(f"{_NOTHING_ELSE} place for a new column but the last")
            return [actions.AddColumn(_field(action.column, text), action.if_not_exists)]
        case s.DropColumn():
            return [
                actions.DropColumn(_column(action.path, found, execution, lenient=action.if_exists), action.if_exists)
            ]
        case s.RenameColumn():
            return [actions.RenameColumn(column(action.path), action.to.exact)]
        case s.SetColumnType():
            return [actions.ChangeType(pa.field(column(action.path), _type(action.type)))]
        case s.SetNotNull() | s.DropNotNull():
            return [actions.SetRequired(column(action.path), isinstance(action, s.SetNotNull))]
        case s.SetDefault():
            return [actions.SetDefault(column(action.path), action.value.of(text))]
        case s.DropDefault():
            return [actions.SetDefault(column(action.path), None)]
        case s.CommentColumn():
            return [actions.SetComment(action.comment, column(action.path))]
        case s.SetProperties() if all(key.lower() == COMMENT for key, _ in action.properties):
            return [actions.SetComment(value) for _, value in action.properties]
        case s.UnsetProperties() if all(key.lower() == COMMENT for key in action.keys):
            return [actions.SetComment(None)]
    words = {
        "MoveColumn": "order of columns that could be changed",
        "SetProperties": "properties",
        "UnsetProperties": "properties",
        "AddPartitionField": "partitioning",
        "DropPartitionField": "partitioning",
        "SetSortOrder": "sort order",
        "CreateRef": "branches and tags",
        "DropRef": "branches and tags",
    }
    raise NotSupportedError(f"{found}: {_NOTHING_ELSE} {words.get(type(action).__name__, type(action).__name__)}")


def _column(path: s.Path, found: ResolvedTable, execution: Execution, *, lenient: bool = False) -> str:
    if len(path) > 1:
        raise NotSupportedError(f"{found}: {_NOTHING_ELSE} fields within columns that could be changed")
    table = execution.resolver.load(found)
    assert isinstance(table, actions.WorkerTable)
    exact = match(path[0], table.schema.names, "column")
    if exact is None and not lenient:
        raise ColumnNotFound(f"{found} has no column {path[0]}; it has: {listing(table.schema.names)}")
    return exact if exact is not None else path[0].exact


def _field(column: s.ColumnDef, text: str) -> pa.Field:
    said = {b"default": column.default.of(text) if column.default is not None else None, b"comment": column.comment}
    metadata = {key: value.encode() for key, value in said.items() if value is not None}
    return pa.field(column.name.exact, _type(column.type), column.nullable, metadata or None)


def _type(given: SqlType) -> pa.DataType:
    ids = count(1)
    return arrow_type_of(iceberg_type(given, lambda: next(ids)))
