"""system.jdbc.schemas: one row per schema (DatabaseMetaData.getSchemas)."""

from __future__ import annotations

from pinakes.system_tables.base import TEXT, Column, SystemTable
from pinakes.system_tables.listing import Space, spaces

TABLE: SystemTable[Space] = SystemTable(
    name="schemas",
    doc="One row per schema of each catalog, also those within others.",
    columns=(
        Column("table_schem", TEXT, "Schema; nested ones joined by dots", lambda s: s.schema, level="schema"),
        Column("table_catalog", TEXT, "Catalog that the schema is in", lambda s: s.catalog, level="catalog"),
    ),
    items=spaces,
)
