"""system.jdbc.catalogs: one row per catalog (DatabaseMetaData.getCatalogs)."""

from __future__ import annotations

from pinakes.system_tables.base import TEXT, Column, SystemTable
from pinakes.system_tables.context import MountedCatalog
from pinakes.system_tables.listing import catalogs

TABLE: SystemTable[MountedCatalog] = SystemTable(
    name="catalogs",
    doc="One row per catalog that the session sees.",
    columns=(Column("table_cat", TEXT, "Name of the catalog", lambda m: m.name, level="catalog"),),
    items=catalogs,
)
