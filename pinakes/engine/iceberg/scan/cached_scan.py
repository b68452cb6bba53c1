"""A small table as any statement of a user reads it, made once: what `caches/session_catalogs.py` keeps.

Only where all of its files are on this machine and DataFusion reads them all: then nothing in it belongs to a session,
and no key of an object store can end. Larger tables are narrowed for each statement anew.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pinakes.caches.session_catalogs import SessionCatalogKey
from pinakes.core.catalog import IcebergTable
from pinakes.engine.binding.relation import Key, Relation
from pinakes.engine.iceberg.scan.table import IcebergScan

if TYPE_CHECKING:
    from datafusion import Table as Provider

    from pinakes.engine.binding.namespaces import Found
    from pinakes.engine.iceberg.scan.file_integrity import Watched
    from pinakes.engine.pushdown.scan_pushdown import Plans
    from pinakes.engine.session import Session


@dataclass(frozen=True, slots=True)
class OpenedTable:
    provider: Provider
    columns: tuple[str, ...]
    watched: tuple[Watched, ...]

    def relation(self, key: Key, table: IcebergTable, plans: Plans) -> Relation:
        plans.watch(self.watched)
        return Relation(key, self.provider, self.columns, table)


def opened_key(found: Found, table: IcebergTable, session: Session) -> SessionCatalogKey:
    place = found.place
    version = (*version_of(table), session.settings.time_zone)
    user = session.identity.fingerprint
    return SessionCatalogKey(user, str(place.mount.mount.id), place.namespace, found.name, version)


def version_of(table: IcebergTable) -> tuple[str, str, int | None, int]:
    """What tells the rows and columns of a table from those that it had before, or will have. A file of metadata alone
    does not everywhere: a table that is dropped and made again may have one of the same name."""
    metadata = table.handle.metadata
    location = table.handle.metadata_location or ""
    return str(metadata.table_uuid), location, metadata.current_snapshot_id, metadata.current_schema_id


def open_small(table: IcebergTable, session: Session) -> OpenedTable | None:
    """None for a table that each statement has to open for itself."""
    scan = IcebergScan(table, session)
    if scan.is_worth_narrowing or not table.handle.metadata_location:
        return None
    narrowed = scan.narrowed()
    if narrowed.plain or any(file.host for file in narrowed.watched) or not narrowed.watched:
        return None
    return OpenedTable(narrowed.provider, tuple(scan.schema.names), tuple(narrowed.watched))
