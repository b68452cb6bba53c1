"""information_schema.schemata: one row per schema, at every level of nesting."""

from __future__ import annotations

from pinakes.system_tables.base import TEXT, Column, SystemTable
from pinakes.system_tables.catalog_metadata.listing import Space, list_spaces

TABLE: SystemTable[Space] = SystemTable(
    name="schemata",
    doc="One row per schema of each catalog, including nested and empty schemas.",
    columns=(
        Column("catalog_name", TEXT, "Catalog of the schema", lambda s: s.catalog, level="catalog"),
        Column(
            "schema_name",
            TEXT,
            "Name of the schema; nested schemas are joined with dots",
            lambda s: s.schema,
            level="schema",
        ),
    ),
    items=list_spaces,
)
