"""cherrypick_snapshot(table, snapshot_id): adds the files that one snapshot added, for example on a branch, to the
table.

The files are not copied. A snapshot that replaced or deleted rows can only be applied if its parent is the current
snapshot: then it becomes the current one.
"""

from __future__ import annotations

import pyarrow as pa
from pyiceberg.manifest import DataFile, ManifestEntryStatus
from pyiceberg.table import Transaction
from pyiceberg.table.refs import SnapshotRefType
from pyiceberg.table.snapshots import Operation, Snapshot

from pinakes.core.errors import InvalidArgument
from pinakes.core.iceberg_metadata import summary_value
from pinakes.engine.iceberg.branches import new_ref
from pinakes.engine.iceberg.write.commit import begin, commit, hold_schema
from pinakes.engine.iceberg.write.producers import Append
from pinakes.engine.iceberg.write.refs import moved, removed
from pinakes.engine.iceberg.write.snapshot_properties import SOURCE_SNAPSHOT
from pinakes.engine.procedures.base import SNAPSHOT, TABLE, Procedure, Rows, Work
from pinakes.engine.procedures.history import ancestors, known_snapshot, set_current


def _run(work: Work) -> Rows:
    metadata = work.table.handle.metadata
    source = known_snapshot(work, work["snapshot_id"])
    _check_new(work, source)
    if source.parent_snapshot_id == metadata.current_snapshot_id:
        set_current(work, source.snapshot_id)
        return [(source.snapshot_id, source.snapshot_id)]
    files = _added(work, source)
    transaction = begin(work.table)
    hold_schema(transaction)
    with Append(transaction) as change:
        change.snapshot_properties = {SOURCE_SNAPSHOT: str(source.snapshot_id)}
        for file in files:
            change.append_data_file(file)
    _hold(transaction, source)
    commit(transaction, work.found.place, work.found.name)
    return [(source.snapshot_id, change.snapshot_id)]


def _hold(transaction: Transaction, source: Snapshot) -> None:
    """Makes the commit fail if the source has expired, since its files are removed then: a tag is set to it and removed
    again.
    """
    name = f"cherrypick of {source.snapshot_id}"
    held = moved(name, new_ref(source.snapshot_id, SnapshotRefType.TAG))
    transaction._apply((held, removed(name)))


def _check_new(work: Work, source: Snapshot) -> None:
    metadata, number = work.table.handle.metadata, source.snapshot_id
    for snapshot in ancestors(metadata, metadata.current_snapshot_id):
        if number in (snapshot.snapshot_id, int(summary_value(snapshot, SOURCE_SNAPSHOT) or 0)):
            raise InvalidArgument(f"{work.found} has what snapshot {number} added already")


def _added(work: Work, source: Snapshot) -> list[DataFile]:
    if source.summary is None or source.summary.operation != Operation.APPEND:
        raise InvalidArgument(
            f"snapshot {source.snapshot_id} of {work.found} did not only add rows, and does not go on from the current "
            f"snapshot {work.table.handle.metadata.current_snapshot_id}: it can't be taken over"
        )
    io, number = work.table.handle.io, source.snapshot_id
    files = [
        entry.data_file
        for manifest in source.manifests(io)
        if manifest.added_snapshot_id == number
        for entry in manifest.fetch_manifest_entry(io)
        if entry.status == ManifestEntryStatus.ADDED and entry.snapshot_id == number
    ]
    if any(file.spec_id != work.table.handle.metadata.default_spec_id for file in files):
        raise InvalidArgument(f"snapshot {number} of {work.found} was written under another partitioning")
    return files


PROCEDURE = Procedure(
    "cherrypick_snapshot",
    (TABLE, SNAPSHOT),
    pa.schema([("source_snapshot_id", pa.int64()), ("current_snapshot_id", pa.int64())]),
    _run,
)
