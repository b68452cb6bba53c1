"""system.jdbc.catalogs: one row per catalog (DatabaseMetaData.getCatalogs)."""

from __future__ import annotations

from pinakes.system_tables.base import TEXT, Column, SystemTable
from pinakes.system_tables.catalog_metadata.listing import list_catalogs
from pinakes.system_tables.context import MountedCatalog

TABLE: SystemTable[MountedCatalog] = SystemTable(
    name="catalogs",
    doc="One row per catalog that the session sees.",
    columns=(Column("table_cat", TEXT, "Name of the catalog", lambda m: m.name, level="catalog"),),
    items=list_catalogs,
)
