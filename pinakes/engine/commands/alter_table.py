"""Changing the definition of a table: ALTER TABLE, RENAME TO, and COMMENT ON for any object."""

from __future__ import annotations

from dataclasses import replace

from pinakes.core.catalog import SupportsViewTexts
from pinakes.core.errors import InvalidArgument, NotSupportedError
from pinakes.core.names import Name, Part
from pinakes.engine.binding.capabilities import namespace_changes, table_changes, views
from pinakes.engine.binding.namespaces import ResolvedTable
from pinakes.engine.binding.new_objects import rename_target
from pinakes.engine.iceberg.write.alter import alter
from pinakes.engine.iceberg.write.definition import find_field
from pinakes.engine.result import Result
from pinakes.engine.statement_context import Execution
from pinakes.parser.statements import AlterTable, CommentColumn, CommentOn, RenameTable, SetProperties, UnsetProperties


def alter_table(statement: AlterTable, execution: Execution) -> Result:
    """ALTER TABLE [IF EXISTS] name action [, action …]: all actions in one commit. Actions are ADD COLUMN name type
    [FIRST | AFTER column], DROP COLUMN name, RENAME COLUMN name TO name, ALTER COLUMN name TYPE t | SET | DROP NOT NULL
    | SET | DROP DEFAULT … | COMMENT '…' | FIRST | AFTER column, ADD [CONSTRAINT name] CHECK (condition), DROP
    CONSTRAINT name, ADD | DROP PARTITION FIELD …, SET | UNSET PROPERTIES (…).
    """
    if statement.if_exists and execution.resolver.maybe(statement.name, kind="TABLE") is None:
        return Result.done("ALTER TABLE")
    alter(statement.name, statement.actions, execution, statement.text)
    return Result.done("ALTER TABLE")


def rename_table(statement: RenameTable, execution: Execution) -> Result:
    """ALTER TABLE [IF EXISTS] name RENAME TO name"""
    resolver = execution.resolver
    if statement.if_exists and resolver.maybe(statement.name, kind="TABLE") is None:
        return Result.done("ALTER TABLE")
    found = resolver.find(statement.name, kind="TABLE")
    catalog = table_changes(found.place.mount)
    catalog.rename_table((found.place.namespace, found.name), rename_target(found, statement.target, resolver))
    return Result.done("ALTER TABLE")


_COMMENT = "comment"


def comment_on(statement: CommentOn, execution: Execution) -> Result:
    """COMMENT ON TABLE | VIEW | COLUMN | SCHEMA name IS '…' | NULL"""
    match statement.what:
        case "TABLE":
            _comment_on_table(statement, execution)
        case "COLUMN":
            _comment_on_column(statement, execution)
        case "VIEW":
            _comment_on_view(statement, execution)
        case "SCHEMA":
            _comment_on_namespace(statement, execution)
    return Result.done("COMMENT")


def _comment_on_table(statement: CommentOn, execution: Execution) -> None:
    if statement.comment is None:
        alter(statement.name, (UnsetProperties((_COMMENT,), if_exists=True),), execution, statement.text)
    else:
        alter(statement.name, (SetProperties(((_COMMENT, statement.comment),)),), execution, statement.text)


def _comment_on_column(statement: CommentOn, execution: Execution) -> None:
    *table, column = statement.name.parts
    if not table:
        raise InvalidArgument(f"say which table column {column} belongs to: COMMENT ON COLUMN table.{column} IS …")
    name = Name(tuple(table))
    found = execution.resolver.find(name)
    if found.kind == "VIEW":
        _comment_on_view_column(found, column, statement.comment)
    else:
        alter(name, (CommentColumn((column,), statement.comment),), execution, statement.text)


def _comment_on_view_column(found: ResolvedTable, column: Part, comment: str | None) -> None:
    catalog = views(found.place.mount, change=True)
    view = catalog.load_view(found.place.namespace, found.name)
    if view.schema is None:
        raise NotSupportedError(f"{found.place.mount.name} keeps no columns of its views, and so no comments on them")
    commented = find_field(view.schema, (column,)).name
    fields = [f.model_copy(update={"doc": comment}) if f.name == commented else f for f in view.schema.fields]
    changed = replace(view, schema=view.schema.model_copy(update={"fields": tuple(fields)}))
    catalog.create_view(found.place.namespace, found.name, changed, replace=True)


def _comment_on_view(statement: CommentOn, execution: Execution) -> None:
    found = execution.resolver.find(statement.name, kind="VIEW")
    catalog = views(found.place.mount, change=True)
    if isinstance(catalog, SupportsViewTexts):
        catalog.set_view_comment(found.place.namespace, found.name, statement.comment)
        return
    view = catalog.load_view(found.place.namespace, found.name)
    catalog.create_view(found.place.namespace, found.name, replace(view, comment=statement.comment), replace=True)


def _comment_on_namespace(statement: CommentOn, execution: Execution) -> None:
    place = execution.resolver.namespace(statement.name)
    catalog = namespace_changes(place.mount)
    if statement.comment is None:
        catalog.alter_namespace(place.namespace, {}, [_COMMENT])
    else:
        catalog.alter_namespace(place.namespace, {_COMMENT: statement.comment}, [])
