"""system.jdbc.schemas: one row per schema (DatabaseMetaData.getSchemas)."""

from __future__ import annotations

from pinakes.system_tables.base import TEXT, Column, SystemTable
from pinakes.system_tables.catalog_metadata.listing import Space, list_spaces

TABLE: SystemTable[Space] = SystemTable(
    name="schemas",
    doc="One row per schema of each catalog, including nested schemas.",
    columns=(
        Column(
            "table_schem",
            TEXT,
            "Name of the schema; nested schemas are joined with dots",
            lambda s: s.schema,
            level="schema",
        ),
        Column("table_catalog", TEXT, "Catalog of the schema", lambda s: s.catalog, level="catalog"),
    ),
    items=list_spaces,
)
