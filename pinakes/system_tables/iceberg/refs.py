"""system.iceberg.refs: the branches and tags of a table."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import pyarrow as pa

from pinakes.system_tables.base import NUMBER, TEXT, Column
from pinakes.system_tables.iceberg_metadata.declaration import Inside, Metadata, table_of_all

if TYPE_CHECKING:
    from pyiceberg.table.refs import SnapshotRef


def _facts(inside: Inside) -> Iterable[tuple[str, SnapshotRef]]:
    return sorted(inside.metadata.refs.items())


METADATA: Metadata[tuple[str, SnapshotRef]] = Metadata(
    name="refs",
    doc="One row per branch and tag of an Iceberg table.",
    columns=(
        Column("name", TEXT, "Name of the branch or tag", lambda r: r[0]),
        Column("type", TEXT, "BRANCH or TAG", lambda r: r[1].snapshot_ref_type.value.upper()),
        Column("snapshot_id", NUMBER, "Id of the snapshot that it refers to", lambda r: r[1].snapshot_id),
        Column(
            "max_reference_age_in_ms",
            NUMBER,
            "Maximum age of the reference in milliseconds; NULL for no limit",
            lambda r: r[1].max_ref_age_ms,
        ),
        Column(
            "min_snapshots_to_keep",
            pa.int32(),
            "Minimum number of snapshots of the branch to keep",
            lambda r: r[1].min_snapshots_to_keep,
        ),
        Column(
            "max_snapshot_age_in_ms",
            NUMBER,
            "Age in milliseconds after which snapshots of the branch can expire",
            lambda r: r[1].max_snapshot_age_ms,
        ),
    ),
    facts=_facts,
)
TABLE = table_of_all(METADATA)
