"""SHOW CREATE TABLE | VIEW | SCHEMA name: the statement that would make it."""

from __future__ import annotations

import pyarrow as pa

from pinakes.core.catalog import SupportsNamespaces
from pinakes.core.errors import NotSupportedError
from pinakes.core.names import display, spell, text_literal
from pinakes.engine.execution import Execution
from pinakes.engine.result import Result
from pinakes.parser.statements import ShowCreate


def show_create(statement: ShowCreate, execution: Execution) -> Result:
    text = _text_of(statement, execution)
    return Result.rows(pa.schema([(f"Create {statement.what.capitalize()}", pa.string())]), [(text,)])


def _text_of(statement: ShowCreate, execution: Execution) -> str:
    match statement.what:
        case "TABLE":
            return _table(statement, execution)
        case "VIEW":
            return _view(statement, execution)
        case "SCHEMA":
            return _namespace(statement, execution)
        case "CATALOG":
            raise NotSupportedError("SHOW CREATE CATALOG is not supported: a mount may carry secrets")


def _table(statement: ShowCreate, execution: Execution) -> str:
    from pinakes.engine.write.spelling import create_table_text

    found, table = execution.resolver.described(statement.name)
    return create_table_text(str(found), table.handle)


def _view(statement: ShowCreate, execution: Execution) -> str:
    from pinakes.core.catalog import ViewDefinition

    resolver = execution.resolver
    found = resolver.find(statement.name, kind="VIEW")
    view = resolver.load(found)
    assert isinstance(view, ViewDefinition)
    columns = ", ".join(spell(f.name) + _comment(" ", f.doc) for f in view.schema.fields)
    comment = _comment("\n", view.comment)
    return f"CREATE VIEW {found} ({columns}){comment} AS\n{view.sql}"


def _comment(before: str, text: str | None) -> str:
    return f"{before}COMMENT {text_literal(text)}" if text else ""


def _namespace(statement: ShowCreate, execution: Execution) -> str:
    place = execution.resolver.namespace(statement.name)
    catalog = place.mount.catalog
    properties = catalog.load_namespace(place.namespace) if isinstance(catalog, SupportsNamespaces) else {}
    name = display(place.mount.name, place.namespace[:-1], place.namespace[-1]) if place.namespace else place.mount.name
    shown = ", ".join(f"{text_literal(k)} = {text_literal(v)}" for k, v in sorted(properties.items()))
    return f"CREATE SCHEMA {name}" + (f"\nWITH ({shown})" if shown else "")
