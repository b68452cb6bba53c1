"""Removes the files that a transaction wrote when it is rolled back. No catalog has referred to them."""

from __future__ import annotations

import logging
from collections.abc import Iterator

from pyiceberg.manifest import ManifestEntryStatus

from pinakes.engine.iceberg.write.snapshot_properties import SOURCE_SNAPSHOT
from pinakes.engine.transactions.work import TableWork
from pinakes.providers.iceberg.table_io import OwnPlaces

log = logging.getLogger(__name__)


def discard(work: TableWork) -> None:
    """Removes the files that certainly belong to this transaction only. A file that can't be removed is harmless, so
    the failure is only logged.
    """
    io = work.base.io
    try:
        own = OwnPlaces(work.metadata)
        paths = {path for path in _paths(work) if own.hold(path)}
    except Exception as error:  # noqa: BLE001 - any error of a file store: the rollback itself is done
        log.warning("files of a transaction that was rolled back stay, as they can't be listed: %s", error)
        return
    for path in paths:
        try:
            io.delete(path)
        except Exception as error:  # noqa: BLE001
            log.warning("could not remove %s, which no snapshot refers to: %s", path, error)


def _paths(work: TableWork) -> Iterator[str]:
    """Yields the data files that the transaction's snapshots wrote, their manifests and the manifest lists. Files added
    by cherrypick_snapshot are excluded: the source snapshot still refers to them.
    """
    ours, io = work.new_snapshots(), work.base.io
    picked = {s.snapshot_id for s in work.metadata.snapshots if s.summary is not None and s.summary[SOURCE_SNAPSHOT]}
    for snapshot in (s for s in work.metadata.snapshots if s.snapshot_id in ours):
        for manifest in snapshot.manifests(io):
            if manifest.added_snapshot_id not in ours:
                continue
            yield manifest.manifest_path
            for entry in manifest.fetch_manifest_entry(io, discard_deleted=False):
                if entry.status == ManifestEntryStatus.ADDED and entry.snapshot_id in ours - picked:
                    yield entry.data_file.file_path
        yield snapshot.manifest_list
