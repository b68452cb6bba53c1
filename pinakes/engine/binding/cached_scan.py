"""Small tables, opened once and shared by the statements of a user; kept in `caches/metadata.py`.

A table is cached only if all its files are local and DataFusion reads them all: then it holds nothing of a session, and
no credentials that expire. Larger tables are pruned for each statement.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pinakes.caches.metadata import SessionCatalogKey
from pinakes.core.catalog import IcebergTable
from pinakes.engine.binding.relation import Key, Relation
from pinakes.engine.iceberg.scan.snapshot import version_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pyarrow as pa
    from datafusion import Table as Provider

    from pinakes.engine.binding.namespaces import ResolvedTable
    from pinakes.engine.iceberg.scan.file_integrity import Watched
    from pinakes.engine.iceberg.scan.table import IcebergScan
    from pinakes.engine.session import Session


@dataclass(frozen=True, slots=True)
class OpenedTable:
    provider: Provider
    types: Mapping[str, pa.DataType]
    watched: tuple[Watched, ...]

    def relation(self, key: Key, table: IcebergTable) -> Relation:
        return Relation(key, self.provider, tuple(self.types), table, watched=self.watched, known_types=self.types)


def opened_key(found: ResolvedTable, table: IcebergTable, session: Session) -> SessionCatalogKey:
    place = found.place
    version = (*version_of(table), session.settings.time_zone)
    user = session.identity.fingerprint
    return SessionCatalogKey(user, str(place.mount.mount.id), place.namespace, found.name, version)


def small_table(scan: IcebergScan, table: IcebergTable) -> OpenedTable | None:
    """The table in the form that is cached; None if each statement has to open it."""
    if scan.is_worth_narrowing or not table.handle.metadata_location:
        return None
    narrowed = scan.whole()
    if narrowed.plain or any(file.host for file in narrowed.watched) or not narrowed.watched:
        return None
    types = {field.name: field.type for field in narrowed.provider.schema}
    return OpenedTable(narrowed.provider, types, tuple(narrowed.watched))
