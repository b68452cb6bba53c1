"""COMMENT ON TABLE | VIEW | COLUMN | SCHEMA name IS '…' | NULL"""

from __future__ import annotations

from dataclasses import replace

from pinakes.core.catalog import SupportsViewTexts
from pinakes.core.errors import InvalidArgument, NotSupportedError
from pinakes.core.names import Name, Part
from pinakes.engine.binding.capabilities import namespace_changes, views
from pinakes.engine.binding.namespaces import Found
from pinakes.engine.iceberg.write.alter import alter
from pinakes.engine.iceberg.write.definition import find_field
from pinakes.engine.result import Result
from pinakes.engine.statement_context import Execution
from pinakes.parser.statements import CommentColumn, CommentOn, SetProperties, UnsetProperties

COMMENT = "comment"


def comment_on(statement: CommentOn, execution: Execution) -> Result:
    match statement.what:
        case "TABLE":
            _table(statement, execution)
        case "COLUMN":
            _column(statement, execution)
        case "VIEW":
            _view(statement, execution)
        case "SCHEMA":
            _namespace(statement, execution)
    return Result.done("COMMENT")


def _table(statement: CommentOn, execution: Execution) -> None:
    if statement.comment is None:
        alter(statement.name, (UnsetProperties((COMMENT,), if_exists=True),), execution, statement.text)
    else:
        alter(statement.name, (SetProperties(((COMMENT, statement.comment),)),), execution, statement.text)


def _column(statement: CommentOn, execution: Execution) -> None:
    *table, column = statement.name.parts
    if not table:
        raise InvalidArgument(f"say which table column {column} belongs to: COMMENT ON COLUMN table.{column} IS …")
    name = Name(tuple(table))
    found = execution.resolver.find(name)
    if found.kind == "VIEW":
        _view_column(found, column, statement.comment)
    else:
        alter(name, (CommentColumn((column,), statement.comment),), execution, statement.text)


def _view_column(found: Found, column: Part, comment: str | None) -> None:
    catalog = views(found.place.mount, change=True)
    view = catalog.load_view(found.place.namespace, found.name)
    if view.schema is None:
        raise NotSupportedError(f"{found.place.mount.name} keeps no columns of its views, and so no comments on them")
    commented = find_field(view.schema, (column,)).name
    fields = [f.model_copy(update={"doc": comment}) if f.name == commented else f for f in view.schema.fields]
    changed = replace(view, schema=view.schema.model_copy(update={"fields": tuple(fields)}))
    catalog.create_view(found.place.namespace, found.name, changed, replace=True)


def _view(statement: CommentOn, execution: Execution) -> None:
    found = execution.resolver.find(statement.name, kind="VIEW")
    catalog = views(found.place.mount, change=True)
    if isinstance(catalog, SupportsViewTexts):
        catalog.set_view_comment(found.place.namespace, found.name, statement.comment)
        return
    view = catalog.load_view(found.place.namespace, found.name)
    catalog.create_view(found.place.namespace, found.name, replace(view, comment=statement.comment), replace=True)


def _namespace(statement: CommentOn, execution: Execution) -> None:
    place = execution.resolver.namespace(statement.name)
    catalog = namespace_changes(place.mount)
    if statement.comment is None:
        catalog.alter_namespace(place.namespace, {}, [COMMENT])
    else:
        catalog.alter_namespace(place.namespace, {COMMENT: statement.comment}, [])
