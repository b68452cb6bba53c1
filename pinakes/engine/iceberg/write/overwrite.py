"""A snapshot that replaces files: it removes and adds data files and delete files.

Only manifests that list a removed file are rewritten. Delete files that apply only to a removed data file are removed
with it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from pyiceberg.exceptions import ValidationException
from pyiceberg.manifest import (
    DataFile,
    DataFileContent,
    ManifestContent,
    ManifestEntry,
    ManifestEntryStatus,
    ManifestFile,
    ManifestWriter,
)
from pyiceberg.table import TableProperties, Transaction
from pyiceberg.table.snapshots import Operation, SnapshotSummaryCollector, Summary, update_snapshot_summaries
from pyiceberg.table.update.snapshot import _SnapshotProducer
from pyiceberg.utils.concurrent import ExecutorFactory

from pinakes.engine.iceberg.scan.deletes import DeleteFile
from pinakes.engine.iceberg.write.delete_files import target_of
from pinakes.engine.iceberg.write.delete_manifests import delete_manifest_writer
from pinakes.engine.iceberg.write.difference import difference
from pinakes.engine.iceberg.write.producers import Merging, Revalidating
from pinakes.providers.iceberg.v3.records import DataFileV3


@dataclass(slots=True)
class Files:
    """The files that a change removes and adds."""

    removed: Iterable[str] = ()
    """Paths of data files."""
    added: Sequence[DataFile] = ()
    added_deletes: Sequence[DataFile] = ()
    removed_deletes: Sequence[DeleteFile] = ()
    everything: bool = False
    """Whether all data files and delete files are removed."""
    within: tuple[int, set[str]] | None = None
    """A snapshot id, and its manifests that list the removed data files: no others have to be read."""
    reads: Callable[[DataFile], bool] | None = None
    """Returns whether a concurrently added file conflicts with the change; None if every file does."""
    moves: bool = False
    """Rows are only moved, not changed: concurrent appends do not conflict, nor do deletes from other files."""


def overwrite(transaction: Transaction, files: Files, operation: Operation | None = None) -> None:
    """Adds a snapshot that replaces the old files with the new ones to the transaction."""
    change = Change(operation or _operation(files), transaction, transaction._table.io)
    change.files = files
    if files.reads is not None or files.moves:
        change.reads = files.reads or (lambda file: False)
    with change:
        for file in files.added:
            change.append_data_file(file)


def _operation(files: Files) -> Operation:
    """Returns the operation of the snapshot. Incremental readers of other engines read only appends."""
    removes = bool(files.everything or files.added_deletes or list(files.removed))
    if not removes:
        return Operation.APPEND
    return Operation.OVERWRITE if files.added else Operation.DELETE


class Change(Revalidating, Merging, _SnapshotProducer["Change"]):
    """The snapshot producer; pyiceberg's own does not support delete files."""

    files: Files = Files()

    def _validate_concurrency(self) -> None:
        """Also checks that the files from which rows are deleted still exist."""
        super()._validate_concurrency()
        window = self._commit_window
        if self.files.added_deletes and window is not None and not window.is_empty():
            removed_entries = difference(window.base, window.head, self._io).removed
            if any(target_of(file) in removed_entries for file in self.files.added_deletes):
                raise ValidationException("a file from which it deletes rows was removed")

    def _matters(self, delete: DataFile) -> bool:
        """Returns whether a concurrent delete conflicts. If rows are only moved, deletes from a file that stays do
        not.
        """
        target = target_of(delete)
        return not self.files.moves or target is None or target in self._removed

    # --- manifests ------------------------------------------------------------------------------------------------

    def _manifests(self) -> list[ManifestFile]:
        self._removed_files: list[DataFile] = []
        kept = [manifest for old in self._parents() for manifest in self._without_removed(*old)]
        self._check_found()
        self._deleted_data_files = {f for f in self._removed_files if f.content == DataFileContent.DATA}
        spec = self._transaction.table_metadata.default_spec_id
        added = self._added(self._added_data_files, spec, ManifestContent.DATA)
        return self._process_manifests(added + self._delete_manifests() + kept)

    def _parents(self) -> Iterable[tuple[ManifestFile, list[ManifestEntry] | None]]:
        """Returns the current manifests, with their entries if some of them may be removed."""
        snapshot = self._transaction.table_metadata.snapshot_by_id(self._parent_snapshot_id or -1)
        manifests = snapshot.manifests(self._io) if snapshot is not None else []
        alive = [m for m in manifests if m.has_added_files() or m.has_existing_files()]
        executor = ExecutorFactory.get_or_create()
        return zip(alive, executor.map(self._entries, alive), strict=True)

    def _entries(self, manifest: ManifestFile) -> list[ManifestEntry] | None:
        if manifest.content == ManifestContent.DATA and not self._may_hold(manifest):
            return None
        if manifest.content == ManifestContent.DELETES and not self._touches_deletes:
            return None
        return self.fetch_manifest_entry(manifest)

    def _may_hold(self, manifest: ManifestFile) -> bool:
        if self.files.everything or not self._removed:
            return self.files.everything
        within = self.files.within
        return within is None or within[0] != self._parent_snapshot_id or manifest.manifest_path in within[1]

    def _without_removed(self, manifest: ManifestFile, entries: list[ManifestEntry] | None) -> list[ManifestFile]:
        removed_entries = [e for e in entries or () if self._goes(e.data_file)]
        if not removed_entries or entries is None:
            return [manifest]
        self._removed_files += [e.data_file for e in removed_entries]
        with self._writer(manifest.partition_spec_id, manifest.content) as writer:
            for entry in entries:
                writer.add_entry(carried(entry, self._snapshot_id, removed=self._goes(entry.data_file)))
        return [writer.to_manifest_file()]

    def _goes(self, file: DataFile) -> bool:
        if self.files.everything:
            return True
        if file.content == DataFileContent.DATA:
            return file.file_path in self._removed
        return _identity(file) in self._removed_deletes or target_of(file) in self._removed

    def _check_found(self) -> None:
        """Fails if a file to remove is missing: its rows would be duplicated."""
        missing = self._removed - {f.file_path for f in self._removed_files if f.content == DataFileContent.DATA}
        if missing:
            raise ValidationException(f"files that were to be replaced are not there: {', '.join(sorted(missing))}")

    def _delete_manifests(self) -> list[ManifestFile]:
        """Writes delete manifests, one for each partition spec of the data files."""
        by_spec: dict[int, list[DataFile]] = defaultdict(list)
        for file in self.files.added_deletes:
            by_spec[file.spec_id].append(file)
        return [m for spec, files in by_spec.items() for m in self._added(files, spec, ManifestContent.DELETES)]

    def _added(self, files: Sequence[DataFile], spec_id: int, content: ManifestContent) -> list[ManifestFile]:
        if not files:
            return []
        with self._writer(spec_id, content) as writer:
            for file in files:
                writer.add(ManifestEntry.from_args(snapshot_id=self._snapshot_id, data_file=file))
        return [writer.to_manifest_file()]

    def _writer(self, spec_id: int, content: ManifestContent) -> ManifestWriter:
        if content == ManifestContent.DATA:
            return self.new_manifest_writer(self.spec(spec_id))
        version = self._transaction.table_metadata.format_version
        output = self.new_manifest_output()
        return delete_manifest_writer(
            version, self.spec(spec_id), self.schema(), output, self._snapshot_id, self._compression
        )

    @cached_property
    def _removed(self) -> frozenset[str]:
        return frozenset(self.files.removed)

    @cached_property
    def _removed_deletes(self) -> frozenset[tuple[str, int | None]]:
        return frozenset((file.path, file.offset) for file in self.files.removed_deletes)

    @property
    def _touches_deletes(self) -> bool:
        return self.files.everything or bool(self._removed or self._removed_deletes)

    # --- summary --------------------------------------------------------------------------------------------------

    def _summary(self, snapshot_properties: dict[str, str] = {}) -> Summary:  # noqa: B006 - pyiceberg's own signature
        metadata = self._transaction.table_metadata
        limit = metadata.properties.get(TableProperties.WRITE_PARTITION_SUMMARY_LIMIT, "0")
        collector = SnapshotSummaryCollector(partition_summary_limit=int(limit))
        specs, schema = metadata.specs(), self.schema()
        for file in self._added_data_files:
            collector.add_file(file, schema, metadata.spec())
        for file in self.files.added_deletes:
            collector.add_file(file, schema, specs[file.spec_id])
        for file in self._removed_files:
            collector.remove_file(file, schema, specs[file.spec_id])
        before = metadata.snapshot_by_id(self._parent_snapshot_id or -1)
        summary: dict[str, Any] = {**collector.build(), **snapshot_properties}
        totals = update_snapshot_summaries(  # it does not support replace; totals are as for overwrite
            summary=Summary(operation=Operation.OVERWRITE, **summary),
            previous_summary=before.summary if before is not None else None,
        )
        return Summary(operation=self._operation, **totals.additional_properties)

    def _deleted_entries(self) -> list[ManifestEntry]:
        """Not used: only pyiceberg's own `_manifests` calls this."""
        raise AssertionError("the manifests of a change are made in _manifests")

    def _existing_manifests(self) -> list[ManifestFile]:
        """Not used; see `_deleted_entries`."""
        raise AssertionError("the manifests of a change are made in _manifests")


def carried(entry: ManifestEntry, snapshot_id: int, *, removed: bool) -> ManifestEntry:
    """Returns an entry for a rewritten manifest: existing, or deleted by this snapshot."""
    return ManifestEntry.from_args(
        status=ManifestEntryStatus.DELETED if removed else ManifestEntryStatus.EXISTING,
        snapshot_id=snapshot_id if removed else entry.snapshot_id,
        sequence_number=entry.sequence_number,
        file_sequence_number=entry.file_sequence_number,
        data_file=entry.data_file,
    )


def _identity(file: DataFile) -> tuple[str, int | None]:
    """Returns the identity of a file: one Puffin file may hold several deletion vectors."""
    return file.file_path, file.content_offset if isinstance(file, DataFileV3) else None
