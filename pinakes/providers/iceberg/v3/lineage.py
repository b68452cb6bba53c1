"""Row ids in table metadata: each row of a version 3 table has one, and the table stores the next free one."""

from __future__ import annotations

from typing import Any, cast

from pyiceberg.exceptions import CommitFailedException
from pyiceberg.table.metadata import TableMetadata, TableMetadataUtil, TableMetadataV1, TableMetadataV3
from pyiceberg.table.update import AddSnapshotUpdate, UpgradeFormatVersionUpdate, _TableMetadataUpdateContext
from pyiceberg.typedef import IcebergBaseModel

FIRST_ROW_ID = 0
"""The first row id of a new or upgraded table."""


def next_row_id(metadata: TableMetadata) -> int:
    """Returns the first free row id. A new table does not store it yet; then it is beyond all snapshots' row ids."""
    if isinstance(metadata, TableMetadataV3) and metadata.next_row_id is not None:
        return metadata.next_row_id
    ends = (s.first_row_id + (s.added_rows or 0) for s in metadata.snapshots if s.first_row_id is not None)
    return max(ends, default=FIRST_ROW_ID)


def started(metadata: TableMetadata) -> TableMetadata:
    """Returns the metadata of a version 3 table with the next row id set, as the format requires."""
    if not isinstance(metadata, TableMetadataV3) or metadata.next_row_id is not None:
        return metadata
    return metadata.model_copy(update={"next_row_id": next_row_id(metadata)})


def dump_json(
    self: TableMetadataV3,
    exclude_none: bool = True,
    exclude: set[str] | None = None,
    by_alias: bool = True,
    **kwargs: Any,
) -> str:
    """Returns the metadata as JSON; pyiceberg's own method refuses version 3."""
    whole = cast("TableMetadataV3", started(self))
    return IcebergBaseModel.model_dump_json(whole, exclude_none, exclude, by_alias, **kwargs)


def apply_upgrade(
    update: UpgradeFormatVersionUpdate, base_metadata: TableMetadata, context: _TableMetadataUpdateContext
) -> TableMetadata:
    """Upgrades a table up to version 3, as pyiceberg does for versions 1 and 2. Existing snapshots stay without row
    ids.
    """
    check_version(update.format_version, base_metadata.format_version)
    if update.format_version == base_metadata.format_version:
        return base_metadata
    context.add_update(update)
    upgraded = base_metadata.model_copy(update={"format_version": update.format_version})
    return started(TableMetadataUtil._construct_without_validation(upgraded))


def check_version(version: int, current: int) -> None:
    if version not in (1, 2, 3):
        raise ValueError(f"format version {version} can't be written; 1, 2 and 3 can")
    if version < current:
        raise ValueError(f"a table of format version {current} can't go back to {version}")


def check_snapshot(update: AddSnapshotUpdate, base_metadata: TableMetadata) -> None:
    """Raises if a snapshot of another branch has taken the row ids or the sequence number: the commit is then
    retried.
    """
    if isinstance(base_metadata, TableMetadataV1):
        return
    snapshot, last = update.snapshot, base_metadata.last_sequence_number
    first = snapshot.first_row_id
    if isinstance(base_metadata, TableMetadataV3) and first is not None and first < next_row_id(base_metadata):
        raise CommitFailedException(f"its row ids from {first} on were given to another snapshot")
    if snapshot.parent_snapshot_id is not None and (snapshot.sequence_number or 0) <= last:
        raise CommitFailedException(f"its sequence number {snapshot.sequence_number} was given to another snapshot")
