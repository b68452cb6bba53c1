"""SHOW CREATE TABLE | VIEW | SCHEMA name: the statement that would make it."""

from __future__ import annotations

import pyarrow as pa

from pinakes.core.catalog import SupportsNamespaces
from pinakes.core.errors import NotSupportedError
from pinakes.core.names import display, spell, text_literal
from pinakes.core.worker_tables import WorkerTable
from pinakes.engine.binding.resolver import iceberg_only
from pinakes.engine.result import Result
from pinakes.engine.statement_context import Execution
from pinakes.parser.statements import ShowCreate
from pinakes.system_tables.described import columns_of_loaded


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
    from pinakes.engine.iceberg.write.spelling import create_table_text

    resolver = execution.resolver
    found = resolver.find(statement.name, kind="TABLE")
    loaded = resolver.latest(found)
    if isinstance(loaded, WorkerTable):
        return _worker_table(str(found), loaded)
    return create_table_text(str(found), iceberg_only(found, loaded).handle)


def _worker_table(name: str, table: WorkerTable) -> str:
    lines = []
    for facts in columns_of_loaded(table):
        default = f" DEFAULT {facts.default}" if facts.default is not None else ""
        nullable = "" if facts.nullable else " NOT NULL"
        lines.append(f"  {spell(facts.name)} {facts.type}{nullable}{default}{_comment(' ', facts.comment)}")
    return f"CREATE TABLE {name} (\n" + ",\n".join(lines) + f"\n){_comment(chr(10), table.comment)}"


def _view(statement: ShowCreate, execution: Execution) -> str:
    from pinakes.core.catalog import ViewDefinition

    resolver = execution.resolver
    found = resolver.find(statement.name, kind="VIEW")
    view = resolver.load(found)
    assert isinstance(view, ViewDefinition)
    fields = view.schema.fields if view.schema is not None else ()
    columns = f" ({', '.join(spell(f.name) + _comment(' ', f.doc) for f in fields)})" if fields else ""
    return f"CREATE VIEW {found}{columns}{_comment(chr(10), view.comment)} AS\n{view.sql}"


def _comment(before: str, text: str | None) -> str:
    return f"{before}COMMENT {text_literal(text)}" if text else ""


def _namespace(statement: ShowCreate, execution: Execution) -> str:
    place = execution.resolver.namespace(statement.name)
    catalog = place.mount.catalog
    properties = catalog.load_namespace(place.namespace) if isinstance(catalog, SupportsNamespaces) else {}
    name = display(place.mount.name, place.namespace[:-1], place.namespace[-1]) if place.namespace else place.mount.name
    shown = ", ".join(f"{text_literal(k)} = {text_literal(v)}" for k, v in sorted(properties.items()))
    return f"CREATE SCHEMA {name}" + (f"\nWITH ({shown})" if shown else "")
