"""The functions of catalogs: `mydb.main.fn(…)`. Only catalogs of a type with functions are called."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from pinakes.core.catalog import SupportsFunctions
from pinakes.core.names import Namespace, display, dotted
from pinakes.core.types.arrow_names import sql_name_of_arrow
from pinakes.core.worker_tables import CatalogFunction
from pinakes.parser.sql_functions import signature
from pinakes.parser.statements import FunctionForm
from pinakes.parser.stored_functions import functions_in
from pinakes.providers.registry import has_functions
from pinakes.system_tables.base import Request
from pinakes.system_tables.catalog_metadata.calls import Question, start_call
from pinakes.system_tables.catalog_metadata.listing import open_catalog, per_catalog
from pinakes.system_tables.catalog_metadata.loading import load_spaces
from pinakes.system_tables.catalog_metadata.namespaces import list_namespaces
from pinakes.system_tables.context import FunctionInfo, MountedCatalog

_UNSTEADY = re.compile(r"\b(?:rand|random|uuid\w*|gen_random_uuid|now|current_\w+|today|localtime\w*)\b", re.IGNORECASE)


class ListedFunction(NamedTuple):
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
    example: str = ""


def from_engine(function: FunctionInfo) -> ListedFunction:
    f = function
    return ListedFunction(
        f.name, f.kind, f.syntax, f.description, f.arguments, f.returns, f.deterministic, example=f.example
    )


def from_catalog(function: CatalogFunction, catalog: str) -> ListedFunction:
    arguments = ", ".join(sql_name_of_arrow(f.type) for f in function.arguments)
    called = [f"[{f.name}]" if f.name in function.optional else f.name for f in function.arguments]
    returns = ", ".join(sql_name_of_arrow(f.type) for f in function.returns)
    if function.kind == "table" and len(function.returns):
        returns = f"table({', '.join(f'{f.name} {sql_name_of_arrow(f.type)}' for f in function.returns)})"
    return ListedFunction(
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


def from_form(name: str, form: FunctionForm, catalog: str, namespace: Namespace) -> ListedFunction:
    """An SQL function (CREATE FUNCTION)."""
    return ListedFunction(
        name,
        "table" if form.is_table else "scalar",
        signature(display(catalog, namespace, name), form),
        form.comment or "",
        (", ".join(p.type or "any" for p in form.parameters),) if form.parameters else (),
        (form.returns,) if form.returns else (),
        _UNSTEADY.search(form.body) is None,
        catalog,
        dotted(namespace),
    )


def functions_of_catalogs(request: Request) -> Iterator[ListedFunction]:
    """Those of catalogs of a type with functions."""
    return per_catalog(request, lambda mount: _functions_of(request, mount))


def list_functions(request: Request) -> Iterator[ListedFunction]:
    """These and SQL functions."""
    yield from functions_of_catalogs(request)
    for space, properties in load_spaces(request):
        for name, forms in functions_in(properties).items():
            for form in forms:
                yield from_form(name, form, space.mount.name, space.namespace)


def _functions_of(request: Request, mount: MountedCatalog) -> Iterator[ListedFunction]:
    if mount.is_system or not has_functions(mount.type):
        return
    catalog = open_catalog(request, mount)
    if not isinstance(catalog, SupportsFunctions):
        return
    for namespace in list_namespaces(request, mount, catalog, check=True):
        question = Question("list the functions", dotted(namespace))
        for function in start_call(request.context, mount, question, catalog.list_functions, namespace).answer([]):
            yield from_catalog(function, mount.name)
