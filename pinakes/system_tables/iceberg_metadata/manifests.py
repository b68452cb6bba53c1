"""The manifests of an Iceberg table and their files, for the tables of system.iceberg.

Values are read one column at a time, and only those that the query needs: a column of a manifest is converted to Python
values when the first of its files is read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from pinakes.core.errors import DataCorrupt
from pinakes.core.names import dotted
from pinakes.system_tables.iceberg_metadata.declaration import Inside
from pinakes.system_tables.iceberg_metadata.partitions import Partition, partitions_of
from pinakes.system_tables.iceberg_metadata.values import types_of

if TYPE_CHECKING:
    from pyiceberg.table.snapshots import Snapshot
    from pyiceberg.types import IcebergType

ADDED, DELETED = 1, 2
"""The status of an entry; 0 is an existing one."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """A manifest as described by the manifest list of a snapshot."""

    row: Mapping[str, Any]
    snapshot_id: int
    """The snapshot of the manifest list."""

    def get(self, name: str) -> Any:
        """Returns a value; None in manifest lists of versions without this column."""
        return self.row.get(name)

    def count(self, name: str) -> Any:
        """Returns a file count, under either of the two names that engines write."""
        return self.row.get(f"{name}_files_count", self.row.get(f"{name}_data_files_count"))

    @property
    def path(self) -> str:
        return str(self.row["manifest_path"])

    @property
    def spec_id(self) -> int:
        return int(self.row["partition_spec_id"])

    @property
    def content(self) -> int:
        """0 for data files, 1 for deletes; version 1 has only data files, and lacks the column."""
        return int(self.row.get("content") or 0)


def manifests_of(inside: Inside, snapshot: Snapshot | None) -> Iterator[Manifest]:
    """Yields the manifests of a snapshot; none without a snapshot."""
    if snapshot is None:
        return
    if not snapshot.manifest_list:
        name = dotted((*inside.table.namespace, inside.table.name))
        raise DataCorrupt(f"table {name}: snapshot {snapshot.snapshot_id} names no list of manifests")
    for row in inside.read(snapshot.manifest_list).to_pylist():
        yield Manifest(row, snapshot.snapshot_id)


def current_manifests(inside: Inside) -> Iterator[Manifest]:
    return manifests_of(inside, inside.metadata.current_snapshot())


def every_manifest(inside: Inside) -> Iterator[Manifest]:
    """Yields the manifests of all snapshots; one that is in several snapshots is repeated."""
    for snapshot in sorted(inside.metadata.snapshots, key=lambda s: s.timestamp_ms):
        inside.check()
        yield from manifests_of(inside, snapshot)


# --- the files of manifests --------------------------------------------------------------------------------------


@dataclass
class Contents:
    """The entries of one manifest."""

    inside: Inside
    manifest: Manifest
    read: pa.Table
    _values: dict[str, list[Any]] = field(default_factory=dict)

    def entry_values(self, name: str) -> list[Any]:
        """Returns the values of a column of the entries."""
        return self._known(f"entry {name}", self.read.column(name) if name in self.read.column_names else None)

    def file_values(self, name: str) -> list[Any]:
        """Returns the values of a column of the entries' data files."""
        return self._known(name, self._files.field(name) if name in self._names else None)

    @cached_property
    def types(self) -> Mapping[int, tuple[str, IcebergType]]:
        """Name and type of the table's columns, by field id."""
        return types_of(self.inside.metadata)

    @cached_property
    def partitions(self) -> list[Partition]:
        values = self._files.field("partition") if "partition" in self._names else None
        return partitions_of(self.inside.table, self.manifest.spec_id, values, len(self._files))

    @cached_property
    def first_row_ids(self) -> list[int | None]:
        """The first row ids. Files without one are numbered from that of the manifest, one after the other."""
        found = list(self.file_values("first_row_id"))
        unused: int | None = self.manifest.get("first_row_id")
        counts = zip(self.entry_values("status"), self.file_values("record_count"), strict=True)
        for number, (status, rows) in enumerate(counts):
            if unused is not None and found[number] is None and status != DELETED:
                found[number] = unused
                unused += rows
        return found

    @cached_property
    def _files(self) -> pa.StructArray:
        column = self.read.column("data_file")
        return column.combine_chunks() if column.num_chunks != 1 else column.chunk(0)

    @cached_property
    def _names(self) -> frozenset[str]:
        return frozenset(f.name for f in self._files.type)

    def _known(self, key: str, column: Any) -> list[Any]:
        if key not in self._values:
            self._values[key] = [None] * self.read.num_rows if column is None else column.to_pylist()
        return self._values[key]


@dataclass(frozen=True, slots=True)
class File:
    """An entry of a manifest: a data or delete file, and its status."""

    of: Contents
    number: int

    def get(self, name: str) -> Any:
        """Returns a value of the data file."""
        return self.of.file_values(name)[self.number]

    def pairs(self, name: str) -> list[tuple[int, Any]] | None:
        """Returns metrics of the file's columns: values by field id."""
        found = self.get(name)
        return None if found is None else [(pair["key"], pair["value"]) for pair in found]

    @property
    def content(self) -> int:
        return int(self.get("content") or 0)

    @property
    def status(self) -> int:
        return int(self.of.entry_values("status")[self.number])

    @property
    def snapshot_id(self) -> int | None:
        """The snapshot of the entry; by default that of its manifest."""
        found: int | None = self.of.entry_values("snapshot_id")[self.number]
        return self.of.manifest.get("added_snapshot_id") if found is None else found

    def sequence(self, name: str) -> int | None:
        """Returns a sequence number. An added entry inherits that of its manifest; version 1 has none."""
        found: int | None = self.of.entry_values(name)[self.number]
        return found if found is not None or self.status != ADDED else self.of.manifest.get("sequence_number") or 0

    @property
    def first_row_id(self) -> int | None:
        return self.of.first_row_ids[self.number]

    @property
    def partition(self) -> Partition:
        return self.of.partitions[self.number]


def files_in(inside: Inside, manifests: Iterator[Manifest], *, deleted: bool) -> Iterator[File]:
    """Yields the entries of manifests, each manifest once; deleted entries only if `deleted`."""
    seen: set[str] = set()
    for manifest in manifests:
        if manifest.path in seen:
            continue
        seen.add(manifest.path)
        inside.check()
        contents = Contents(inside, manifest, inside.read(manifest.path))
        for number, status in enumerate(contents.entry_values("status")):
            if deleted or status != DELETED:
                yield File(contents, number)
