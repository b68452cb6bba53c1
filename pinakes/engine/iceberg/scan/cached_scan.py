"""Cached scans of small tables, shared by all statements of a user (`caches/session_catalogs.py`).

A scan is cached only if all files are local and DataFusion reads all of them: then it holds no session state, and no
credentials that can expire. Larger tables are pruned for each statement.
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
    """Returns the key of a table version: it changes whenever rows or columns change.

    The metadata location is not sufficient in every catalog: a table that is dropped and created again may reuse the
    name of a metadata file.
    """
    metadata = table.handle.metadata
    location = table.handle.metadata_location or ""
    return str(metadata.table_uuid), location, metadata.current_snapshot_id, metadata.current_schema_id


def open_small(table: IcebergTable, session: Session) -> OpenedTable | None:
    """Opens a table for the cache; None if each statement has to open it."""
    scan = IcebergScan(table, session)
    if scan.is_worth_narrowing or not table.handle.metadata_location:
        return None
    narrowed = scan.narrowed()
    if narrowed.plain or any(file.host for file in narrowed.watched) or not narrowed.watched:
        return None
    return OpenedTable(narrowed.provider, tuple(scan.schema.names), tuple(narrowed.watched))
