"""system.metadata.catalogs: one row per catalog that the session sees. No catalog is called."""

from __future__ import annotations

from pinakes.system_tables.base import MOMENT, TEXT, TRUTH, Column, SystemTable
from pinakes.system_tables.catalog_metadata.listing import list_catalogs
from pinakes.system_tables.context import MountedCatalog


def _state(mount: MountedCatalog) -> str:
    return "OPEN" if mount.is_open or mount.is_system else "UNUSED"


TABLE: SystemTable[MountedCatalog] = SystemTable(
    name="catalogs",
    doc="One row per catalog that the session sees, whether or not it can be reached.",
    columns=(
        Column("catalog_name", TEXT, "Name of the catalog", lambda m: m.name, level="catalog"),
        Column("connector_id", TEXT, "Name of the catalog; for compatibility with Trino", lambda m: m.name),
        Column("connector_name", TEXT, "Type of the catalog, as in ATTACH … (TYPE x)", lambda m: m.type),
        Column(
            "state",
            TEXT,
            "OPEN after the first use, else UNUSED; a catalog that is opened per user stays UNUSED",
            _state,
        ),
        Column("read_only", TRUTH, "Whether the catalog is read-only", lambda m: m.read_only),
        Column("visibility", TEXT, "Who sees it: session, user or all", lambda m: m.visibility),
        Column(
            "mounted_at",
            MOMENT,
            "Time at which the catalog was attached or the engine was started",
            lambda m: m.mounted_at,
        ),
    ),
    items=list_catalogs,
)
