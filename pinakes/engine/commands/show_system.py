"""SHOW FUNCTIONS, STATS and CACHES, and SEARCH: their rows come from system tables."""

from __future__ import annotations

import pyarrow as pa

from pinakes.core.catalog import IcebergTable, SupportsFunctions
from pinakes.core.errors import NotSupportedError
from pinakes.core.names import Name, display, dotted, text_literal, undotted
from pinakes.engine.binding.namespaces import ResolvedNamespace
from pinakes.engine.datafusion.functions import functions
from pinakes.engine.result import Result
from pinakes.engine.statement_context import Execution
from pinakes.engine.system.contexts import context_of
from pinakes.engine.system.reading import read
from pinakes.parser.statements import (
    Search,
    ShowCaches,
    ShowFunctions,
    ShowStats,
)
from pinakes.system_tables import registry
from pinakes.system_tables.base import Request
from pinakes.system_tables.catalog_metadata.functions import (
    ListedFunction,
    from_catalog,
    from_engine,
    from_form,
    functions_of_catalogs,
)
from pinakes.system_tables.iceberg_metadata.declaration import inside
from pinakes.system_tables.iceberg_metadata.statistics import statistics_of
from pinakes.system_tables.name_predicates import ANYTHING, OneOf
from pinakes.system_tables.search import search_table

_FUNCTIONS = pa.schema(
    [
        ("Function", pa.string()),
        ("Return Type", pa.string()),
        ("Argument Types", pa.string()),
        ("Function Type", pa.string()),
        ("Deterministic", pa.bool_()),
        ("Description", pa.string()),
        ("Example", pa.string()),
    ]
)


def show_functions(statement: ShowFunctions, execution: Execution) -> Result:
    """SHOW FUNCTIONS [IN x] [LIKE p]: lists the functions that queries can call, as system.metadata.functions."""
    found = _all_functions(execution) if statement.within is None else _namespace_functions(statement.within, execution)
    return Result.rows(
        _FUNCTIONS, [_function_row(n, f) for n, f in found if statement.like is None or statement.like.matches(n)]
    )


def _all_functions(execution: Execution) -> list[tuple[str, ListedFunction]]:
    request = Request(context_of(execution, None), frozenset())
    found = [*functions_of_catalogs(request), *_functions_in_reach(execution)]
    of_catalogs = [(display(f.catalog or "", undotted(f.schema or ""), f.name), f) for f in found]
    return [*((f.name, from_engine(f)) for f in functions()), *of_catalogs]


def _namespace_functions(name: Name, execution: Execution) -> list[tuple[str, ListedFunction]]:
    place = execution.resolver.namespace(name)
    if not place.namespace:
        place = ResolvedNamespace(place.mount, execution.resolver.home(place.mount))
    catalog = place.mount.catalog
    found = [(f.name, f) for f in _sql_functions(place)]
    if isinstance(catalog, SupportsFunctions):
        found += [(f.name, from_catalog(f, place.mount.name)) for f in catalog.list_functions(place.namespace)]
    return sorted(found)


def _functions_in_reach(execution: Execution) -> list[ListedFunction]:
    """The SQL functions that a name of one part means: those of the session and of the current namespace. All others
    would take a request for each namespace."""
    places = execution.resolver.function_places(Name.of("x"))
    return [function for place in places for function in _sql_functions(place)]


def _sql_functions(place: ResolvedNamespace) -> list[ListedFunction]:
    from pinakes.engine.binding.sql_functions import stored_in

    return [
        from_form(name, form, place.mount.name, place.namespace)
        for name, forms in sorted(stored_in(place).items())
        for form in forms
    ]


def _function_row(name: str, f: ListedFunction) -> tuple[object, ...]:
    return name, " | ".join(f.returns), " | ".join(f.arguments), f.kind, f.deterministic, f.description, f.example


_STATISTICS = pa.schema(
    [
        ("column_name", pa.string()),
        ("data_size", pa.float64()),
        ("distinct_values_count", pa.float64()),
        ("nulls_fraction", pa.float64()),
        ("row_count", pa.float64()),
        ("low_value", pa.string()),
        ("high_value", pa.string()),
    ]
)


def show_stats(statement: ShowStats, execution: Execution) -> Result:
    """SHOW STATS FOR table: shows statistics of rows and columns from the metadata of an Iceberg table, without reading
    data files.
    """
    catalog, table = _iceberg_table(statement.table, execution)
    request = Request(context_of(execution, catalog), frozenset())
    return Result.rows(_STATISTICS, statistics_of(inside(request, table)))


def _iceberg_table(name: Name, execution: Execution) -> tuple[str, IcebergTable]:
    resolver = execution.resolver
    if name.is_path:
        raise _no_statistics(text_literal(name.last.text))
    if resolver.temporary(name) is not None:
        raise _no_statistics(name)
    found = resolver.find(name)
    loaded = resolver.load(found)
    if not isinstance(loaded, IcebergTable):
        raise _no_statistics(found)
    return found.place.mount.name, loaded


def _no_statistics(what: object) -> NotSupportedError:
    return NotSupportedError(
        f"SHOW STATS reads the metadata of an Iceberg table, and {what} is none. "
        f"SUMMARIZE {what} reads its rows instead."
    )


def show_caches(statement: ShowCaches, execution: Execution) -> Result:
    """SHOW CACHES [LIKE p]: lists the caches of the engine, as system.runtime.caches."""
    table = registry.table("runtime", "caches")
    rows = table.read(Request(context_of(execution, None), frozenset(table.schema.names)))
    if statement.like is not None:
        names = rows.column("cache_name").to_pylist()
        rows = rows.filter([statement.like.matches(name) for name in names])
    return Result(rows.schema, rows.to_batches())


def search(statement: Search, execution: Execution) -> Result:
    """SEARCH 'words' [IN catalog | namespace]: finds objects by name or comment, best matches first."""
    table = search_table(statement.words)
    if statement.within is None:
        rows = read(table, execution)
    else:
        place = execution.resolver.namespace(statement.within)
        schema = OneOf("schema", frozenset({dotted(place.namespace)})) if place.namespace else ANYTHING
        rows = read(table, execution, place.mount.name, wanted=schema)
    return Result(rows.schema, rows.to_batches())
