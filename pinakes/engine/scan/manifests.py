"""The manifests of a snapshot as Arrow tables: its data files, with what the metadata tells of each.

Manifests never change, so each is read once and remembered by its path (`caches/manifests.py`), and so is what a
snapshot's list of them says. `files.py` looks into them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyiceberg.io import FileIO

from pinakes.caches.manifests import ManifestCache
from pinakes.engine.scan.avro import read_avro

_DELETED = 2
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
SCHEMA = pa.schema(_COLUMNS)


@dataclass(frozen=True, slots=True)
class Manifest:
    """The data files of one manifest that are alive."""

    spec_id: int
    files: pa.Table
    """Under SCHEMA."""
    partitions: pa.StructArray | None
    """The partition of each; None in an unpartitioned table."""

    @property
    def nbytes(self) -> int:
        return int(self.files.nbytes) + (int(self.partitions.nbytes) if self.partitions is not None else 0) + 1000


@dataclass(frozen=True, slots=True)
class ManifestList:
    """What a snapshot consists of: (path, partition spec) of each manifest of data files, and whether rows of them
    may be deleted."""

    data: tuple[tuple[str, int], ...]
    has_deletes: bool

    @property
    def nbytes(self) -> int:
        return 1000 + sum(len(path) + 100 for path, _ in self.data)


def manifest_list(cache: ManifestCache, io: FileIO, path: str) -> ManifestList:
    return cache.get("list", path, lambda: _list(read_avro(io, path)))


def manifest(cache: ManifestCache, io: FileIO, path: str, spec_id: int) -> Manifest:
    return cache.get("manifest", path, lambda: _manifest(read_avro(io, path), spec_id))


def _list(read: pa.Table) -> ManifestList:
    rows = read.select([c for c in ("manifest_path", "partition_spec_id", "content") if c in read.column_names])
    data, deletes = [], False
    for row in rows.to_pylist():
        if row.get("content") or 0:  # version 1 knows data only, and does not say so
            deletes = True
        else:
            data.append((row["manifest_path"], row["partition_spec_id"]))
    return ManifestList(tuple(data), deletes)


def _manifest(read: pa.Table, spec_id: int) -> Manifest:
    alive = read.filter(pc.not_equal(read.column("status"), _DELETED))
    entries = _whole(alive.column("data_file"))
    names = [field.name for field in entries.type]
    if "content" in names and pc.any(pc.not_equal(entries.field("content"), _DATA)).as_py():
        raise ValueError("a manifest of data files has an entry of another kind")
    columns = [
        _typed(entries.field(name), kind) if name in names else pa.nulls(len(entries), kind)
        for name, kind in _COLUMNS.items()
    ]
    partitions = entries.field("partition") if "partition" in names else None
    return Manifest(spec_id, pa.Table.from_arrays(columns, schema=SCHEMA), partitions)


def _typed(column: Any, kind: pa.DataType) -> pa.Array:
    """The column as one type, however an engine's Avro spells its members."""
    return column if column.type == kind else column.cast(kind)


def _whole(column: pa.ChunkedArray) -> pa.Array:
    return column.combine_chunks() if column.num_chunks != 1 else column.chunk(0)
