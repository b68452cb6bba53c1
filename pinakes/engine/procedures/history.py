"""Functions that several procedures share: ancestors of snapshots, and setting the current snapshot."""

from __future__ import annotations

from collections.abc import Iterator

from pyiceberg.table.metadata import TableMetadata
from pyiceberg.table.refs import MAIN_BRANCH, SnapshotRefType
from pyiceberg.table.snapshots import Snapshot

from pinakes.core.errors import VersionNotFound
from pinakes.engine.iceberg.write.commit import begin, commit
from pinakes.engine.iceberg.write.refs import new_ref, set_ref
from pinakes.engine.procedures.base import Work


def ancestors(metadata: TableMetadata, snapshot_id: int | None) -> Iterator[Snapshot]:
    """Yields a snapshot and its ancestors, as far as the metadata has them."""
    while snapshot_id is not None:
        snapshot = metadata.snapshot_by_id(snapshot_id)
        if snapshot is None:
            return
        yield snapshot
        snapshot_id = snapshot.parent_snapshot_id


def is_ancestor(metadata: TableMetadata, ancestor: int, of: int | None) -> bool:
    return any(snapshot.snapshot_id == ancestor for snapshot in ancestors(metadata, of))


def known_snapshot(work: Work, snapshot_id: int) -> Snapshot:
    snapshot = work.table.handle.metadata.snapshot_by_id(snapshot_id)
    if snapshot is None:
        known = ", ".join(str(s.snapshot_id) for s in work.table.handle.metadata.snapshots[-10:])
        raise VersionNotFound(f"{work.found} has no snapshot {snapshot_id}; the last ones are: {known or 'none'}")
    return snapshot


def set_current(work: Work, snapshot_id: int) -> tuple[int | None, int]:
    """Sets the current snapshot; returns the previous one and the new one. Commits nothing if they are equal."""
    before = work.table.handle.metadata.current_snapshot_id
    if before != snapshot_id:
        move(work, MAIN_BRANCH, snapshot_id)
    return before, snapshot_id


def move(work: Work, branch: str, snapshot_id: int) -> None:
    """Moves a branch to a snapshot, and keeps its retention settings."""
    existing = work.table.handle.metadata.refs.get(branch)
    new = new_ref(snapshot_id, SnapshotRefType.BRANCH)
    if existing is not None:
        new = existing.model_copy(update={"snapshot_id": snapshot_id})
    transaction = begin(work.table)
    set_ref(transaction, branch, new)
    commit(transaction, work.found.place, work.found.name)
