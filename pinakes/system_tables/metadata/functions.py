"""system.metadata.functions: one row per function that a query may call. SHOW FUNCTIONS has the same rows."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from pinakes.system_tables.base import TEXT, TRUTH, Column, Request, SystemTable
from pinakes.system_tables.catalog_metadata.functions import ListedFunction, from_engine, list_functions

TEXTS = pa.list_(TEXT)


def _rows(request: Request) -> Iterator[ListedFunction]:
    if request.wanted.values("catalog") is None and request.wanted.values("schema") is None:
        yield from map(from_engine, request.context.functions())
    yield from list_functions(request)


TABLE: SystemTable[ListedFunction] = SystemTable(
    name="functions",
    doc="One row per function that queries can call.",
    columns=(
        Column("function_name", TEXT, "Name of the function", lambda f: f.name),
        Column("function_type", TEXT, "scalar, aggregate, window or table", lambda f: f.kind),
        Column("syntax", TEXT, "Syntax of a call; NULL if unknown", lambda f: f.syntax or None),
        Column("description", TEXT, "Description; NULL if unknown", lambda f: f.description or None),
        Column(
            "argument_types",
            TEXTS,
            "Argument types, one entry per signature; NULL for any type",
            lambda f: list(f.arguments) or None,
        ),
        Column(
            "return_types",
            TEXTS,
            "Return types; NULL if they depend on the arguments",
            lambda f: list(f.returns) or None,
        ),
        Column("deterministic", TRUTH, "Whether the result depends only on the arguments", lambda f: f.deterministic),
        Column(
            "catalog_name",
            TEXT,
            "Catalog of the function; NULL for functions of the engine",
            lambda f: f.catalog,
            level="catalog",
        ),
        Column(
            "schema_name",
            TEXT,
            "Schema of the function; NULL for functions of the engine",
            lambda f: f.schema,
            level="schema",
        ),
        Column("example", TEXT, "A query that calls it; NULL if there is none", lambda f: f.example or None),
    ),
    items=_rows,
)
