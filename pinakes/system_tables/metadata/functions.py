"""system.metadata.functions: one row per function that a query may call. SHOW FUNCTIONS has the same rows."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from pinakes.system_tables.base import TEXT, TRUTH, Column, Request, SystemTable
from pinakes.system_tables.catalog_functions import Listed, catalog_functions, own

TEXTS = pa.list_(TEXT)


def _rows(request: Request) -> Iterator[Listed]:
    if request.wanted.values("catalog") is None and request.wanted.values("schema") is None:
        yield from map(own, request.world.functions())
    yield from catalog_functions(request)


TABLE: SystemTable[Listed] = SystemTable(
    name="functions",
    doc="One row per function that a query may call.",
    columns=(
        Column("function_name", TEXT, "Name of the function", lambda f: f.name),
        Column("function_type", TEXT, "scalar, aggregate, window or table", lambda f: f.kind),
        Column("syntax", TEXT, "How it is called; NULL where that is not known", lambda f: f.syntax or None),
        Column("description", TEXT, "What it does; NULL where that is not known", lambda f: f.description or None),
        Column(
            "argument_types",
            TEXTS,
            "Types that it takes, one text for each way to call it; NULL for any type",
            lambda f: list(f.arguments) or None,
        ),
        Column(
            "return_types",
            TEXTS,
            "Types that it gives; NULL where they depend on what it is given",
            lambda f: list(f.returns) or None,
        ),
        Column("deterministic", TRUTH, "Whether it gives the same for the same arguments", lambda f: f.deterministic),
        Column(
            "catalog_name",
            TEXT,
            "Catalog that has it; NULL for one of the engine",
            lambda f: f.catalog,
            level="catalog",
        ),
        Column(
            "schema_name", TEXT, "Schema that has it; NULL for one of the engine", lambda f: f.schema, level="schema"
        ),
    ),
    items=_rows,
)
