"""SHOW TABLES, VIEWS, COLUMNS and CREATE, and DESCRIBE. `show_system.py` has those that read system tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from pinakes.core.catalog import FilesTable, SupportsNamespaces, ViewDefinition
from pinakes.core.errors import FunctionNotFound, NotSupportedError
from pinakes.core.names import Name, display, dotted, spell, text_literal
from pinakes.core.types.arrow_names import sql_name_of_arrow
from pinakes.core.worker_tables import WorkerTable
from pinakes.engine.binding.capabilities import views
from pinakes.engine.binding.namespaces import ResolvedNamespace, objects
from pinakes.engine.binding.resolver import Resolver, iceberg_only
from pinakes.engine.binding.view_columns import view_columns
from pinakes.engine.datafusion.plan_schema import schema_of
from pinakes.engine.result import Result
from pinakes.engine.statement_context import Execution
from pinakes.parser.statements import (
    Describe,
    ShowColumns,
    ShowCreate,
    ShowTables,
    ShowViews,
)
from pinakes.system_tables.catalog_metadata.columns import ColumnFacts, columns_of_arrow, columns_of_loaded

if TYPE_CHECKING:
    from datafusion import DataFrame


def show_tables(statement: ShowTables, execution: Execution) -> Result:
    """SHOW TABLES [IN x] [LIKE p]: lists the tables and views of one namespace; without IN, also temporary ones."""
    places = _listed_namespaces(statement.within, execution.resolver)
    names = {name for place in places for name in objects(place.mount.catalog, place)}
    return Result.names("Table", names, statement.like)


def show_views(statement: ShowViews, execution: Execution) -> Result:
    """SHOW VIEWS [IN x] [LIKE p]: lists the views of one namespace; without IN, also temporary ones."""
    places = _listed_namespaces(statement.within, execution.resolver)
    names = {name for place in places for name in views(place.mount).list_views(place.namespace)}
    return Result.names("View", names, statement.like)


def _listed_namespaces(within: Name | None, resolver: Resolver) -> list[ResolvedNamespace]:
    place = resolver.namespace(within, check=False)
    if within is not None:
        return [place if place.namespace else ResolvedNamespace(place.mount, resolver.home(place.mount))]
    temporary = resolver.temporary_place()
    return [place] if temporary is None else [place, temporary]


_COLUMNS = pa.schema([("Column", pa.string()), ("Type", pa.string()), ("Extra", pa.string()), ("Comment", pa.string())])


def show_columns(statement: ShowColumns, execution: Execution) -> Result:
    """SHOW COLUMNS FROM table [LIKE p]: lists names, types, nullability and comments of columns."""
    rows = _column_rows(statement.table, execution)
    return Result.rows(_COLUMNS, [r for r in rows if statement.like is None or statement.like.matches(r[0])])


def _column_rows(name: Name, execution: Execution) -> list[tuple[str, str, str, str]]:
    """(name, type, extra, comment) of each column of a table or view, as information_schema.columns has them."""
    facts = _column_facts(name, execution)
    return [(f.name, f.type, "" if f.nullable else "not null", f.comment or "") for f in facts]


def _column_facts(name: Name, execution: Execution) -> list[ColumnFacts]:
    if name.is_path and len(name.parts) == 1:
        return columns_of_arrow(_file_schema(name, execution))
    resolver = execution.resolver
    temporary = resolver.temporary(name)
    if temporary is not None:
        return columns_of_arrow(temporary[1].schema)
    loaded = resolver.load(resolver.find(name))
    if isinstance(loaded, ViewDefinition) and loaded.schema is None:
        return columns_of_arrow(view_columns(execution, name))
    if not isinstance(loaded, FilesTable):
        return columns_of_loaded(loaded)
    from pinakes.engine.files.tables import open_table

    opened = open_table(loaded, execution.finder(), execution.session.settings.time_zone)
    return columns_of_arrow(opened.schema)


def _file_schema(name: Name, execution: Execution) -> pa.Schema:
    from pinakes.engine.files.tables import Reading, open_files

    zone = execution.session.settings.time_zone
    return open_files(Reading((name.last.text,)), execution.finder(), zone).schema


_PROPERTIES = pa.schema([("Property", pa.string()), ("Value", pa.string())])


def describe(statement: Describe, execution: Execution) -> Result:
    """DESCRIBE table | view | namespace | query | read_csv(…): shows columns with their types, or the properties of a
    namespace.
    """
    match statement.what:
        case "NAMESPACE":
            return _describe_namespace(statement, execution)
        case "QUERY":
            return _describe_query(execution.planner().query(statement, statement.body, is_result=True).frame)
        case "FILES":
            assert statement.table is not None
            planner = execution.planner()
            text = planner.rewrite(statement, statement.table.span).text
            return _describe_query(planner.plan(f"SELECT * FROM {text}", statement).frame)
        case _:
            assert statement.name is not None
            return Result.rows(_COLUMNS, _column_rows(statement.name, execution))


def _describe_query(frame: DataFrame) -> Result:
    rows = [(f.name, sql_name_of_arrow(f.type), "" if f.nullable else "not null", "") for f in schema_of(frame)]
    return Result.rows(_COLUMNS, rows)


def _describe_namespace(statement: Describe, execution: Execution) -> Result:
    place = execution.resolver.namespace(statement.name)
    catalog = place.mount.catalog
    properties = catalog.load_namespace(place.namespace) if isinstance(catalog, SupportsNamespaces) else {}
    rows = [("catalog", place.mount.name), ("namespace", dotted(place.namespace)), *sorted(properties.items())]
    return Result.rows(_PROPERTIES, rows)


def show_create(statement: ShowCreate, execution: Execution) -> Result:
    """SHOW CREATE TABLE | VIEW | FUNCTION | SCHEMA name: shows the statement that creates the object."""
    match statement.what:
        case "TABLE":
            text = _table_text(statement, execution)
        case "VIEW":
            text = _view_text(statement, execution)
        case "FUNCTION":
            text = _function_text(statement, execution)
        case "SCHEMA":
            text = _namespace_text(statement, execution)
        case "CATALOG":
            raise NotSupportedError("SHOW CREATE CATALOG is not supported: a mount may carry secrets")
    return Result.rows(pa.schema([(f"Create {statement.what.capitalize()}", pa.string())]), [(text,)])


def _table_text(statement: ShowCreate, execution: Execution) -> str:
    from pinakes.engine.iceberg.write.spelling import create_table_text

    resolver = execution.resolver
    found = resolver.find(statement.name, kind="TABLE")
    loaded = resolver.latest(found)
    if isinstance(loaded, WorkerTable):
        return _worker_table_text(str(found), loaded)
    return create_table_text(str(found), iceberg_only(found, loaded).handle)


def _worker_table_text(name: str, table: WorkerTable) -> str:
    lines = []
    for facts in columns_of_loaded(table):
        default = f" DEFAULT {facts.default}" if facts.default is not None else ""
        nullable = "" if facts.nullable else " NOT NULL"
        lines.append(f"  {spell(facts.name)} {facts.type}{nullable}{default}{_comment_clause(' ', facts.comment)}")
    return f"CREATE TABLE {name} (\n" + ",\n".join(lines) + f"\n){_comment_clause(chr(10), table.comment)}"


def _view_text(statement: ShowCreate, execution: Execution) -> str:
    resolver = execution.resolver
    found = resolver.find(statement.name, kind="VIEW")
    view = resolver.load(found)
    assert isinstance(view, ViewDefinition)
    fields = view.schema.fields if view.schema is not None else ()
    columns = f" ({', '.join(spell(f.name) + _comment_clause(' ', f.doc) for f in fields)})" if fields else ""
    return f"CREATE VIEW {found}{columns}{_comment_clause(chr(10), view.comment)} AS\n{view.sql}"


def _function_text(statement: ShowCreate, execution: Execution) -> str:
    from pinakes.engine.binding.sql_functions import find_function
    from pinakes.parser.grammar.functions import definition

    found = find_function(statement.name, execution.resolver)
    if found is None:
        raise FunctionNotFound(f"there is no SQL function {statement.name}; SHOW FUNCTIONS lists all functions")
    return ";\n".join(definition(str(found), form) for form in found.forms)


def _comment_clause(before: str, text: str | None) -> str:
    return f"{before}COMMENT {text_literal(text)}" if text else ""


def _namespace_text(statement: ShowCreate, execution: Execution) -> str:
    place = execution.resolver.namespace(statement.name)
    catalog = place.mount.catalog
    properties = catalog.load_namespace(place.namespace) if isinstance(catalog, SupportsNamespaces) else {}
    name = display(place.mount.name, place.namespace[:-1], place.namespace[-1]) if place.namespace else place.mount.name
    shown = ", ".join(f"{text_literal(k)} = {text_literal(v)}" for k, v in sorted(properties.items()))
    return f"CREATE SCHEMA {name}" + (f"\nWITH ({shown})" if shown else "")
