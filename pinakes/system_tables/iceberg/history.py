"""system.iceberg.history: the current snapshots of a table over time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from pinakes.system_tables.base import MOMENT, NUMBER, TRUTH, Column
from pinakes.system_tables.iceberg_metadata.declaration import Inside, Metadata, table_of_all


class Change(NamedTuple):
    at: int
    snapshot: int
    parent: int | None
    is_ancestor: bool


def _facts(inside: Inside) -> Iterator[Change]:
    parents = {s.snapshot_id: s.parent_snapshot_id for s in inside.metadata.snapshots}
    ancestors, current = set(), inside.metadata.current_snapshot_id
    while current is not None and current not in ancestors:
        ancestors.add(current)
        current = parents.get(current)
    for entry in inside.metadata.snapshot_log:
        number = entry.snapshot_id
        yield Change(entry.timestamp_ms, number, parents.get(number), number in ancestors)


METADATA: Metadata[Change] = Metadata(
    name="history",
    doc="One row per change of the current snapshot of an Iceberg table.",
    columns=(
        Column("made_current_at", MOMENT, "Time at which the snapshot became current", lambda c: c.at),
        Column("snapshot_id", NUMBER, "Id of the snapshot", lambda c: c.snapshot),
        Column("parent_id", NUMBER, "Id of the parent snapshot; NULL if unknown", lambda c: c.parent),
        Column(
            "is_current_ancestor",
            TRUTH,
            "Whether the snapshot is an ancestor of the current snapshot",
            lambda c: c.is_ancestor,
        ),
    ),
    facts=_facts,
)
TABLE = table_of_all(METADATA)
