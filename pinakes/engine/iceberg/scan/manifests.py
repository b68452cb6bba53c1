"""The manifests of a snapshot as Arrow tables: its data files and delete files, with their statistics.

Manifests and manifest lists never change, so each is read once and cached by its path (`caches/files.py`).
`snapshot.py` uses them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyiceberg.io import FileIO

from pinakes.caches.files import ManifestCache
from pinakes.engine.iceberg.scan.avro import read_avro
from pinakes.engine.iceberg.scan.locations import remembered_as

_ADDED, _DELETED = 1, 2
_DATA = 0
_PAIRS = pa.list_(pa.struct([("key", pa.int32()), ("value", pa.int64())]))
_BOUNDS = pa.list_(pa.struct([("key", pa.int32()), ("value", pa.binary())]))
_COLUMNS = {
    "file_path": pa.string(),
    "file_format": pa.string(),
    "record_count": pa.int64(),
    "file_size_in_bytes": pa.int64(),
    "column_sizes": _PAIRS,
    "value_counts": _PAIRS,
    "null_value_counts": _PAIRS,
    "nan_value_counts": _PAIRS,
    "lower_bounds": _BOUNDS,
    "upper_bounds": _BOUNDS,
    "split_offsets": pa.list_(pa.int64()),
    "key_metadata": pa.binary(),
}
_OF_DELETES = {
    "content": pa.int32(),
    "equality_ids": pa.list_(pa.int32()),
    "referenced_data_file": pa.string(),
    "content_offset": pa.int64(),
    "content_size_in_bytes": pa.int64(),
}
_SEQUENCE = ("sequence_number", pa.int64())
SCHEMA = pa.schema([*_COLUMNS.items(), _SEQUENCE])
DELETES_SCHEMA = pa.schema([*_COLUMNS.items(), *_OF_DELETES.items(), _SEQUENCE])


@dataclass(frozen=True, slots=True)
class Listed:
    """A manifest in the manifest list of a snapshot."""

    path: str
    spec_id: int
    sequence_number: int
    """The sequence number that entries without their own inherit: those added with the manifest."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """The live data files or delete files of one manifest."""

    spec_id: int
    files: pa.Table
    """A table with schema SCHEMA or DELETES_SCHEMA."""
    partitions: pa.StructArray | None
    """The partition of each file; None in an unpartitioned table."""
    path: str = ""

    @property
    def nbytes(self) -> int:
        return int(self.files.nbytes) + (int(self.partitions.nbytes) if self.partitions is not None else 0) + 1000


@dataclass(frozen=True, slots=True)
class ManifestList:
    """The manifest list of a snapshot: manifests of data files and of delete files."""

    data: tuple[Listed, ...]
    deletes: tuple[Listed, ...]

    @property
    def nbytes(self) -> int:
        return 1000 + sum(len(m.path) + 200 for m in (*self.data, *self.deletes))


def manifest_list(cache: ManifestCache, io: FileIO, path: str) -> ManifestList:
    return cache.get("list", remembered_as(path, io), lambda: _list(read_avro(io, path)))


def manifest(cache: ManifestCache, io: FileIO, listed: Listed) -> Manifest:
    """Reads a manifest of data files."""
    return cache.get("manifest", _key(io, listed), lambda: _data_manifest(read_avro(io, listed.path), listed))


def delete_manifest(cache: ManifestCache, io: FileIO, listed: Listed) -> Manifest:
    """Reads a manifest of delete files."""
    return cache.get("deletes", _key(io, listed), lambda: _manifest(read_avro(io, listed.path), listed, DELETES_SCHEMA))


def _key(io: FileIO, listed: Listed) -> str:
    """Returns the cache key of a manifest. It has what the list says of it, since another list may differ."""
    return f"{remembered_as(listed.path, io)} {listed.spec_id} {listed.sequence_number}"


def _list(read: pa.Table) -> ManifestList:
    names = ("manifest_path", "partition_spec_id", "sequence_number", "content")
    data: list[Listed] = []
    deletes: list[Listed] = []
    for row in read.select([c for c in names if c in read.column_names]).to_pylist():
        # Version 1 has neither the column nor sequence numbers, and only data files.
        found = deletes if row.get("content") else data
        found.append(Listed(row["manifest_path"], row["partition_spec_id"], row.get("sequence_number") or 0))
    return ManifestList(tuple(data), tuple(deletes))


def _data_manifest(read: pa.Table, listed: Listed) -> Manifest:
    if read.num_rows and "content" in [f.name for f in read.schema.field("data_file").type]:
        content = _whole(read.column("data_file")).field("content")
        if pc.any(pc.not_equal(content, _DATA)).as_py():
            raise ValueError("a manifest of data files has an entry of another kind")
    return _manifest(read, listed, SCHEMA)


def _manifest(read: pa.Table, listed: Listed, schema: pa.Schema) -> Manifest:
    alive = read.filter(pc.not_equal(read.column("status"), _DELETED))
    entries = _whole(alive.column("data_file"))
    names = [field.name for field in entries.type]
    columns = [
        _typed(entries.field(f.name), f.type) if f.name in names else pa.nulls(len(entries), f.type)
        for f in schema
        if f.name != "sequence_number"
    ]
    partitions = entries.field("partition") if "partition" in names else None
    files = pa.Table.from_arrays([*columns, _sequence_numbers(alive, listed)], schema=schema)
    return Manifest(listed.spec_id, files, partitions, listed.path)


def _sequence_numbers(entries: pa.Table, listed: Listed) -> pa.Array:
    """Returns the data sequence number of each entry.

    An entry that was added with its manifest inherits the manifest's number. Another entry without a number is of
    version 1, and older than all deletes.
    """
    inherited = pc.if_else(pc.equal(_whole(entries.column("status")), _ADDED), listed.sequence_number, 0)
    if "sequence_number" not in entries.column_names:
        return inherited.cast(pa.int64())
    return pc.coalesce(_whole(entries.column("sequence_number")).cast(pa.int64()), inherited.cast(pa.int64()))


def _typed(column: Any, kind: pa.DataType) -> pa.Array:
    """Casts the column to one type: engines write its Avro fields differently."""
    return column if column.type == kind else column.cast(kind)


def _whole(column: pa.ChunkedArray) -> pa.Array:
    return column.combine_chunks() if column.num_chunks != 1 else column.chunk(0)
