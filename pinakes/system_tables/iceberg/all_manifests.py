"""system.iceberg.all_manifests: the manifests of all snapshots that a table still has."""

from __future__ import annotations

from collections.abc import Iterable

from pinakes.system_tables.base import NUMBER, Column
from pinakes.system_tables.iceberg.manifests import COLUMNS, Listed
from pinakes.system_tables.iceberg_metadata.declaration import Inside, Metadata, table_of_all
from pinakes.system_tables.iceberg_metadata.manifests import every_manifest


def _facts(inside: Inside) -> Iterable[Listed]:
    return ((manifest, inside.table) for manifest in every_manifest(inside))


METADATA: Metadata[Listed] = Metadata(
    name="all_manifests",
    doc="One row per manifest of each snapshot of an Iceberg table; a manifest of several snapshots has several rows.",
    columns=(
        *COLUMNS,
        Column("reference_snapshot_id", NUMBER, "Snapshot that contains the manifest", lambda m: m[0].snapshot_id),
    ),
    facts=_facts,
    reads_files=True,
)
TABLE = table_of_all(METADATA)
