"""The commit of a snapshot in a version 3 table: as in pyiceberg's snapshot producers, with row ids."""

from __future__ import annotations

from typing import Any

from pyiceberg.manifest import ManifestFile
from pyiceberg.table.refs import SnapshotRefType
from pyiceberg.table.snapshots import Snapshot
from pyiceberg.table.update import (
    AddSnapshotUpdate,
    AssertRefSnapshotId,
    SetSnapshotRefUpdate,
    UpdatesAndRequirements,
)
from pyiceberg.table.update.snapshot import _new_manifest_list_file_name as manifest_list_name
from pyiceberg.table.update.snapshot import _SnapshotProducer

from pinakes.providers.iceberg.v3.lineage import next_row_id
from pinakes.providers.iceberg.v3.writers import ManifestListWriterV3

Producer = _SnapshotProducer[Any]


def commit(producer: Producer) -> UpdatesAndRequirements:
    """Writes the manifests and their list, and returns the updates that add the snapshot. A retry calls it again: the
    row ids then start at the table's current next row id.
    """
    snapshot = _snapshot(producer, producer._manifests())
    added = AddSnapshotUpdate(snapshot=snapshot)
    branch = producer._target_branch
    if branch is None:
        return (added,), ()
    head = producer._transaction.table_metadata.refs.get(branch)
    moved = SetSnapshotRefUpdate.model_validate(
        {
            "action": "set-snapshot-ref",
            "ref-name": branch,
            "type": SnapshotRefType.BRANCH,
            "snapshot-id": snapshot.snapshot_id,
        }
    )
    unmoved = AssertRefSnapshotId.model_validate(
        {"type": "assert-ref-snapshot-id", "ref": branch, "snapshot-id": head.snapshot_id if head else None}
    )
    return (added, moved), (unmoved,)


def _snapshot(producer: Producer, manifests: list[ManifestFile]) -> Snapshot:
    metadata = producer._transaction.table_metadata
    sequence_number, first_row_id = metadata.next_sequence_number(), next_row_id(metadata)
    path = _new_list(producer)
    with ManifestListWriterV3(
        producer._io.new_output(path),
        producer.snapshot_id,
        producer._parent_snapshot_id,
        sequence_number,
        first_row_id,
        producer._compression,
    ) as writer:
        writer.add_manifests(manifests)
    return Snapshot.model_validate(
        {
            "snapshot-id": producer.snapshot_id,
            "parent-snapshot-id": producer._parent_snapshot_id,
            "manifest-list": path,
            "sequence-number": sequence_number,
            "summary": producer._summary(producer.snapshot_properties),
            "schema-id": metadata.current_schema_id,
            "first-row-id": first_row_id,
            "added-rows": writer.next_row_id - first_row_id,
        }
    )


def _new_list(producer: Producer) -> str:
    """Returns the path of the manifest list; the producer removes it if the commit fails."""
    name = manifest_list_name(snapshot_id=producer.snapshot_id, attempt=0, commit_uuid=producer.commit_uuid)
    path: str = producer._transaction._table.location_provider().new_metadata_location(name)
    producer._written_manifest_lists.append(path)
    return path
