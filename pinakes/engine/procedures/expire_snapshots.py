"""expire_snapshots(table, [older_than], [retain_last], [snapshot_ids], [dry_run]): removes old snapshots and their
files.

The arguments select the snapshots, or else the table's properties (history.expire.…), and for each branch its own
settings. Snapshots that a branch or tag refers to are kept. Files are removed after the commit, and only those that no
remaining snapshot reaches; if that cannot be determined, nothing is changed.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from functools import partial

import pyarrow as pa
from pyiceberg.io import FileIO
from pyiceberg.manifest import DataFileContent
from pyiceberg.table.metadata import TableMetadata
from pyiceberg.table.refs import MAIN_BRANCH, SnapshotRef, SnapshotRefType
from pyiceberg.table.update import (
    AssertRefSnapshotId,
    RemoveSnapshotRefUpdate,
    RemoveSnapshotsUpdate,
    TableRequirement,
    TableUpdate,
)

from pinakes.core.errors import CommitConflict, InvalidArgument
from pinakes.engine.iceberg.maintenance.reachable import Reachable
from pinakes.engine.iceberg.write.commit import begin, commit
from pinakes.engine.procedures.base import DRY_RUN, TABLE, Parameter, Procedure, Rows, Work, milliseconds
from pinakes.engine.procedures.history import ancestors, known_snapshot
from pinakes.providers.iceberg.table_io import OwnPlaces

log = logging.getLogger(__name__)

DAY = 86_400_000
NOTHING = (0, 0, 0, 0, 0, 0)


def _run(work: Work) -> Rows:
    metadata = work.table.handle.metadata
    if metadata.properties.get("gc.enabled", "true").lower() == "false":
        raise InvalidArgument(
            f"{work.found} has gc.enabled = false: other tables may use its files, so none is removed"
        )
    refs = _kept_refs(work, metadata)
    doomed = _doomed(work, metadata, refs)
    dropped = [name for name in metadata.refs if name not in refs]
    if not doomed and not dropped:
        return [NOTHING]
    io, before = work.table.handle.io, {s.snapshot_id: s for s in metadata.snapshots}
    theirs = Reachable.of((s for number, s in before.items() if number in doomed), io, work.check)
    ours = Reachable.of((s for number, s in before.items() if number not in doomed), io, work.check)
    known = _statistics(metadata)
    if work["dry_run"]:
        gone = sum(file.snapshot_id in doomed for file in (*metadata.statistics, *metadata.partition_statistics))
        return [(*_remove(theirs, ours, OwnPlaces(metadata).hold), gone)]
    left = _expire(work, doomed, dropped)
    ours.add((s for s in left.snapshots if s.snapshot_id not in before), io)  # added concurrently
    remove = partial(_removed, io, OwnPlaces(metadata))
    return [(*_remove(theirs, ours, remove), sum(map(remove, known - _statistics(left))))]


def _statistics(metadata: TableMetadata) -> set[str]:
    return {s.statistics_path for s in (*metadata.statistics, *metadata.partition_statistics)}


# --- selection -----------------------------------------------------------------------------------------------------


def _kept_refs(work: Work, metadata: TableMetadata) -> dict[str, SnapshotRef]:
    """Returns the branches and tags to keep: one with a maximum age is dropped when its snapshot is older."""
    now = milliseconds(work.now)
    return {name: ref for name, ref in metadata.refs.items() if name == MAIN_BRANCH or not _is_old(metadata, ref, now)}


def _is_old(metadata: TableMetadata, ref: SnapshotRef, now: int) -> bool:
    snapshot = metadata.snapshot_by_id(ref.snapshot_id)
    return ref.max_ref_age_ms is not None and snapshot is not None and now - snapshot.timestamp_ms > ref.max_ref_age_ms


def _doomed(work: Work, metadata: TableMetadata, refs: dict[str, SnapshotRef]) -> set[int]:
    least, oldest = _limits(work, metadata)
    explicit = set(work["snapshot_ids"] or ())
    heads = {ref.snapshot_id: name for name, ref in refs.items()}
    for number in explicit:
        known_snapshot(work, number)
        if number in heads:
            raise InvalidArgument(f"snapshot {number} can't expire: {heads[number]!r} of {work.found} stands at it")
    if explicit and work["older_than"] is None and work["retain_last"] is None:
        return explicit
    kept: set[int] = set()
    referred: set[int] = set()
    for ref in refs.values():
        line = list(ancestors(metadata, ref.snapshot_id))
        if ref.snapshot_ref_type == SnapshotRefType.TAG:
            line = line[:1]
        referred |= {s.snapshot_id for s in line}
        own_least = ref.min_snapshots_to_keep or least
        own_oldest = oldest
        if ref.max_snapshot_age_ms is not None and work["older_than"] is None:
            own_oldest = milliseconds(work.now) - ref.max_snapshot_age_ms
        is_tag = ref.snapshot_ref_type == SnapshotRefType.TAG
        kept |= {s.snapshot_id for n, s in enumerate(line) if is_tag or n < own_least or s.timestamp_ms >= own_oldest}
    kept |= {s.snapshot_id for s in metadata.snapshots if s.snapshot_id not in referred and s.timestamp_ms >= oldest}
    return ({s.snapshot_id for s in metadata.snapshots} - kept) | explicit


def _limits(work: Work, metadata: TableMetadata) -> tuple[int, int]:
    """Returns the minimum number of snapshots per branch, and the time since which all are kept."""
    properties = metadata.properties
    least = work["retain_last"]
    if least is None:
        least = int(properties.get("history.expire.min-snapshots-to-keep", 1))
    if least < 1:
        raise InvalidArgument("expire_snapshots: retain_last must be at least 1")
    if work["older_than"] is not None:
        return least, milliseconds(work["older_than"])
    age = int(properties.get("history.expire.max-snapshot-age-ms", 5 * DAY))
    return least, milliseconds(work.now) - age


# --- commit and removal ----------------------------------------------------------------------------------------------


def _expire(work: Work, doomed: set[int], dropped: Iterable[str]) -> TableMetadata:
    """Commits, and returns the new metadata, including concurrent additions."""
    transaction = begin(work.table)
    updates: list[TableUpdate] = [
        RemoveSnapshotRefUpdate.model_validate({"action": "remove-snapshot-ref", "ref-name": name}) for name in dropped
    ]
    if doomed:
        removed = {"action": "remove-snapshots", "snapshot-ids": sorted(doomed)}
        updates.append(RemoveSnapshotsUpdate.model_validate(removed))
    transaction._apply(tuple(updates), ())
    # No ref may have moved. pyiceberg's own method of adding requirements keeps only one of each kind.
    transaction._requirements += tuple(_unmoved(work.table.handle.metadata))
    _check_no_new_refs(work)
    commit(transaction, work.found.place, work.found.name)
    return transaction._table.metadata


def _unmoved(metadata: TableMetadata) -> Iterable[TableRequirement]:
    for name, ref in metadata.refs.items():
        yield AssertRefSnapshotId.model_validate({"ref": name, "snapshot-id": ref.snapshot_id})


def _check_no_new_refs(work: Work) -> None:
    """Fails if a branch or tag was created meanwhile, since finding the snapshots takes time.

    No commit requirement covers this, and some servers drop tags together with their snapshots.
    """
    handle = work.table.handle
    new = handle.catalog.load_table(handle.name()).metadata.refs.keys() - handle.metadata.refs.keys()
    if new:
        raise CommitConflict(f"{work.found} has got {sorted(new)[0]!r} meanwhile. Run the statement again.")


def _remove(theirs: Reachable, ours: Reachable, remove: Callable[[str], bool]) -> tuple[int, ...]:
    """Removes the files that only expired snapshots reach, and returns the counts by kind. Leftover files do no
    harm.
    """
    files = [(path, content) for key, (path, content) in theirs.files.items() if key not in ours.files]
    kinds = (DataFileContent.DATA, DataFileContent.POSITION_DELETES, DataFileContent.EQUALITY_DELETES)
    counts = [sum(remove(path) for path, content in files if content == kind) for kind in kinds]
    counts.append(sum(remove(path) for key, path in theirs.manifests.items() if key not in ours.manifests))
    counts.append(sum(remove(path) for key, path in theirs.lists.items() if key not in ours.lists))
    return tuple(counts)


def _removed(io: FileIO, own: OwnPlaces, path: str) -> bool:
    """Removes a file and returns whether it was removed. Files outside of the table's location, such as those of
    add_files, are kept.
    """
    if not own.hold(path):
        return False
    try:
        io.delete(path)
    except Exception as error:  # noqa: BLE001 - the snapshots have expired, whatever a file store says
        log.warning("could not remove %s, which no snapshot refers to: %s", path, error)
        return False
    return True


PROCEDURE = Procedure(
    "expire_snapshots",
    (
        TABLE,
        Parameter("older_than", "timestamp"),
        Parameter("retain_last", "integer"),
        Parameter("snapshot_ids", "integers"),
        DRY_RUN,
    ),
    pa.schema(
        [
            ("deleted_data_files_count", pa.int64()),
            ("deleted_position_delete_files_count", pa.int64()),
            ("deleted_equality_delete_files_count", pa.int64()),
            ("deleted_manifest_files_count", pa.int64()),
            ("deleted_manifest_lists_count", pa.int64()),
            ("deleted_statistics_files_count", pa.int64()),
        ]
    ),
    _run,
    in_transactions=False,
)
