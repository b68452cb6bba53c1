"""system.iceberg.snapshots: one row per snapshot that a table still has."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import pyarrow as pa

from pinakes.system_tables.base import MOMENT, NUMBER, TEXT, Column
from pinakes.system_tables.iceberg_metadata.declaration import Inside, Metadata, table_of_all

if TYPE_CHECKING:
    from pyiceberg.table.snapshots import Snapshot


def _facts(inside: Inside) -> Iterable[Snapshot]:
    return sorted(inside.metadata.snapshots, key=lambda s: s.timestamp_ms)


def _operation(snapshot: Snapshot) -> str | None:
    return snapshot.summary.operation.value if snapshot.summary is not None else None


def _summary(snapshot: Snapshot) -> list[tuple[str, str]] | None:
    return sorted(snapshot.summary.additional_properties.items()) if snapshot.summary is not None else None


METADATA: Metadata[Snapshot] = Metadata(
    name="snapshots",
    doc="One row per snapshot of an Iceberg table, oldest first.",
    columns=(
        Column("committed_at", MOMENT, "Time of the commit", lambda s: s.timestamp_ms),
        Column("snapshot_id", NUMBER, "Id of the snapshot", lambda s: s.snapshot_id),
        Column(
            "parent_id",
            NUMBER,
            "Id of the parent snapshot; NULL for the first snapshot",
            lambda s: s.parent_snapshot_id,
        ),
        Column("operation", TEXT, "Operation: append, replace, overwrite or delete", _operation),
        Column("manifest_list", TEXT, "Path of the manifest list", lambda s: s.manifest_list),
        Column("summary", pa.map_(TEXT, TEXT), "Summary of the changes", _summary),
    ),
    facts=_facts,
)
TABLE = table_of_all(METADATA)
