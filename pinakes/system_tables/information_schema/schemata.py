"""information_schema.schemata: one row per schema, at every level of nesting."""

from __future__ import annotations

from pinakes.system_tables.base import TEXT, Column, SystemTable
from pinakes.system_tables.listing import Space, spaces

TABLE: SystemTable[Space] = SystemTable(
    name="schemata",
    doc="One row per schema of each catalog, also those within others and those that are empty.",
    columns=(
        Column("catalog_name", TEXT, "Catalog that the schema is in", lambda s: s.catalog, level="catalog"),
        Column("schema_name", TEXT, "Schema; nested ones joined by dots", lambda s: s.schema, level="schema"),
    ),
    items=spaces,
)
