"""The functions of catalogs: `mydb.main.fn(…)`. Only catalogs of a type with functions are called."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from pinakes.core.arrow_types import sql_name_of_arrow
from pinakes.core.catalog import SupportsFunctions
from pinakes.core.names import display, dotted
from pinakes.core.worker_tables import CatalogFunction
from pinakes.providers.registry import has_functions
from pinakes.system_tables.base import Request
from pinakes.system_tables.calls import Question, start_call
from pinakes.system_tables.context import FunctionInfo, MountedCatalog
from pinakes.system_tables.listing import opened, per_catalog
from pinakes.system_tables.namespaces import namespaces_of


class Listed(NamedTuple):
    """A function; a built-in one has no catalog."""

    name: str
    kind: str
    syntax: str
    description: str
    arguments: tuple[str, ...]
    returns: tuple[str, ...]
    deterministic: bool
    catalog: str | None = None
    schema: str | None = None


def own(function: FunctionInfo) -> Listed:
    f = function
    return Listed(f.name, f.kind, f.syntax, f.description, f.arguments, f.returns, f.deterministic)


def of_catalog(function: CatalogFunction, catalog: str) -> Listed:
    arguments = ", ".join(sql_name_of_arrow(f.type) for f in function.arguments)
    called = [f"[{f.name}]" if f.name in function.optional else f.name for f in function.arguments]
    returns = ", ".join(sql_name_of_arrow(f.type) for f in function.returns)
    if function.kind == "table" and len(function.returns):
        returns = f"table({', '.join(f'{f.name} {sql_name_of_arrow(f.type)}' for f in function.returns)})"
    return Listed(
        function.name,
        function.kind,
        f"{display(catalog, function.namespace, function.name)}({', '.join(called)})",
        function.description or "",
        (arguments,) if arguments else (),
        (returns,) if returns else (),
        function.deterministic,
        catalog,
        dotted(function.namespace),
    )


def catalog_functions(request: Request) -> Iterator[Listed]:
    return per_catalog(request, lambda mount: _functions_of(request, mount))


def _functions_of(request: Request, mount: MountedCatalog) -> Iterator[Listed]:
    if mount.is_system or not has_functions(mount.type):
        return
    catalog = opened(request, mount)
    if not isinstance(catalog, SupportsFunctions):
        return
    for namespace in namespaces_of(request, mount, catalog, check=True):
        question = Question("list the functions", dotted(namespace))
        for function in start_call(request.context, mount, question, catalog.list_functions, namespace).answer([]):
            yield of_catalog(function, mount.name)
