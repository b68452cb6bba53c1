"""SHOW FUNCTIONS [IN x] [LIKE p]: what a query may call. The rows are those of system.metadata.functions."""

from __future__ import annotations

import pyarrow as pa

from pinakes.core.catalog import SupportsFunctions
from pinakes.core.names import Name, display, undotted
from pinakes.engine.binding.namespaces import Place
from pinakes.engine.planning.functions import functions
from pinakes.engine.result import Result
from pinakes.engine.statement_context import Execution
from pinakes.engine.system.contexts import world_of
from pinakes.parser.statements import ShowFunctions
from pinakes.system_tables.base import Request
from pinakes.system_tables.catalog_functions import Listed, catalog_functions, of_catalog, own

_SCHEMA = pa.schema(
    [
        ("Function", pa.string()),
        ("Return Type", pa.string()),
        ("Argument Types", pa.string()),
        ("Function Type", pa.string()),
        ("Deterministic", pa.bool_()),
        ("Description", pa.string()),
    ]
)


def show_functions(statement: ShowFunctions, execution: Execution) -> Result:
    """Those of the engine are in no catalog, and those of catalogs go by their full names; IN a namespace there are its
    own, by theirs."""
    found = _everywhere(execution) if statement.within is None else _within(statement.within, execution)
    return Result.rows(_SCHEMA, [_row(n, f) for n, f in found if statement.like is None or statement.like.matches(n)])


def _everywhere(execution: Execution) -> list[tuple[str, Listed]]:
    request = Request(world_of(execution, None), frozenset())
    found = catalog_functions(request)
    of_catalogs = [(display(f.catalog or "", undotted(f.schema or ""), f.name), f) for f in found]
    return [*((f.name, own(f)) for f in functions()), *of_catalogs]


def _within(name: Name, execution: Execution) -> list[tuple[str, Listed]]:
    place = execution.resolver.namespace(name)
    if not place.namespace:
        place = Place(place.mount, execution.resolver.home(place.mount))
    catalog = place.mount.catalog
    if not isinstance(catalog, SupportsFunctions):
        return []
    return sorted((f.name, of_catalog(f, place.mount.name)) for f in catalog.list_functions(place.namespace))


def _row(name: str, f: Listed) -> tuple[object, ...]:
    return name, " | ".join(f.returns), " | ".join(f.arguments), f.kind, f.deterministic, f.description
