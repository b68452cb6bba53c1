"""Applies updates to the metadata of a table, as pyiceberg does, without a deep copy of the unchanged parts.

Metadata is never changed in place, so unchanged parts can be shared. With a thousand snapshots, the copy takes longer
than the rest of a commit.
"""

from __future__ import annotations

from datetime import datetime

from pyiceberg.exceptions import CommitFailedException
from pyiceberg.table import CommitTableResponse
from pyiceberg.table.metadata import TableMetadata
from pyiceberg.table.update import (
    RemoveSnapshotsUpdate,
    TableUpdate,
    _apply_table_update,
    _TableMetadataUpdateContext,
    _update_table_metadata_log,
)
from pyiceberg.utils.datetime import datetime_to_millis


def apply_updates(base: TableMetadata, updates: tuple[TableUpdate, ...], location: str | None = None) -> TableMetadata:
    """Returns the updated metadata. `location` is that of the base's metadata file, for the metadata log."""
    context, metadata = _TableMetadataUpdateContext(), base
    for update in updates:
        if isinstance(update, RemoveSnapshotsUpdate):
            _check_unreferred(update, metadata)
        metadata = _apply_table_update(update, metadata, context)
    if context.has_changes():
        if location:
            metadata = _update_table_metadata_log(metadata, location, base.last_updated_ms)
        if base.last_updated_ms == metadata.last_updated_ms:
            now = datetime_to_millis(datetime.now().astimezone())
            metadata = metadata.model_copy(update={"last_updated_ms": now})
    metadata.spec().check_compatible(metadata.schema())
    metadata.sort_order().check_compatible(metadata.schema())
    return metadata


def _check_unreferred(update: RemoveSnapshotsUpdate, metadata: TableMetadata) -> None:
    """Raises if a branch or tag refers to a removed snapshot: pyiceberg would remove it too, even one that was just
    created.
    """
    names = sorted(name for name, ref in metadata.refs.items() if ref.snapshot_id in update.snapshot_ids)
    if names:
        raise CommitFailedException(f"{names[0]!r} stands at a snapshot that was to go")


def commit_response(metadata: TableMetadata, location: str) -> CommitTableResponse:
    """Returns the response of a catalog to a commit, without validation, since it was created here."""
    return CommitTableResponse.model_construct(metadata=metadata, metadata_location=location)
