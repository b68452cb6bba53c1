"""The data files of one snapshot, and what is known of each: the place where files are chosen.

Made once per snapshot and remembered. What a column's bounds say is decoded when a query asks for the column.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

import pyarrow as pa
import pyarrow.compute as pc
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.table.metadata import TableMetadata
from pyiceberg.transforms import BucketTransform, Transform
from pyiceberg.types import IcebergType

from pinakes.caches.manifests import ManifestCache
from pinakes.core.catalog import IcebergTable
from pinakes.core.errors import DataCorrupt, PinakesError
from pinakes.engine.scan.bounds import Range, counts, in_parts, kind_of, one_valued, range_of
from pinakes.engine.scan.manifests import SCHEMA, Manifest, manifest, manifest_list
from pinakes.engine.scan.partitions import range_of_partition
from pinakes.engine.scan.tasks import Task
from pinakes.providers.foreign_errors import translate_foreign

T = TypeVar("T", int, str)


@dataclass(frozen=True, slots=True)
class Buckets:
    """In which bucket of a column's values each file is; NULL where that is not known."""

    transform: BucketTransform[Any]
    values: pa.Array


class SnapshotFiles:
    """Files by their number: the rows of `table`, which has the columns of `manifests.SCHEMA`."""

    def __init__(self, manifests: Sequence[Manifest], specs: dict[int, PartitionSpec], *, has_deletes: bool) -> None:
        self.has_deletes = has_deletes
        self.tasks: dict[str, Task] | None = None
        """By path, for whoever reads with pyiceberg; made when first needed."""
        self._manifests = sorted(manifests, key=lambda m: m.spec_id)
        self._specs = specs
        tables = [m.files for m in self._manifests]
        self.table = pa.concat_tables(tables).combine_chunks() if tables else SCHEMA.empty_table()
        self._ranges: dict[tuple[int, str], list[Range]] = {}
        self._found: dict[str, frozenset[Any]] = {}
        self._counts: dict[tuple[str, int], pa.Array] = {}

    def __len__(self) -> int:
        return int(self.table.num_rows)

    @property
    def nbytes(self) -> int:
        """What is decoded later is about as much again."""
        return 2 * int(self.table.nbytes) + 1000

    @cached_property
    def paths(self) -> list[str]:
        found: list[str] = self.table.column("file_path").to_pylist()
        return found

    @cached_property
    def sizes(self) -> list[int]:
        found: list[int] = self.table.column("file_size_in_bytes").to_pylist()
        return found

    @cached_property
    def are_different(self) -> bool:
        """Whether each file is there once only."""
        return len(set(self.paths)) == len(self)

    @cached_property
    def not_plain_parquet(self) -> frozenset[int]:
        """The files of another format, and those that are encrypted."""
        other = pc.not_equal(pc.utf8_upper(self.table.column("file_format")), "PARQUET")
        return _true(pc.or_(other, pc.is_valid(self.table.column("key_metadata"))))

    def ranges(self, field_id: int, kind: IcebergType) -> list[Range]:
        """All that is known of where a column's values lie: its bounds, and what it is partitioned by."""
        key = (field_id, str(kind))
        if key not in self._ranges:
            self._ranges[key] = list(self._known_ranges(field_id, kind))
        return self._ranges[key]

    def counts(self, column: str, field_id: int) -> pa.Array:
        """One of the counts of a column (see `bounds.counts`)."""
        if (column, field_id) not in self._counts:
            self._counts[column, field_id] = counts(self.table, column, field_id)
        return self._counts[column, field_id]

    def buckets(self, field_id: int) -> list[Buckets]:
        found = []
        for transform, values in self._partitions(field_id):
            if isinstance(transform, BucketTransform):
                found.append(Buckets(transform, values.cast(pa.int32())))
        return found

    def one_valued(self, field_id: int) -> frozenset[int]:
        """The files that may have NaN beside one single number in a floating column. Statistics leave NaN out: from a
        least and a greatest value that are the same, DataFusion concludes that all are."""
        return self.remembered(f"one-valued {field_id}", lambda: _true(one_valued(self.table, field_id)))

    @cached_property
    def in_parts(self) -> frozenset[int]:
        """The files that may have several row groups."""
        return _true(in_parts(self.table))

    def uncounted(self, field_id: int) -> frozenset[int]:
        """The files whose metadata does not tell that they have a column."""
        return self.remembered(f"uncounted {field_id}", lambda: _true(self._uncounted(field_id)))

    def remembered(self, what: str, find: Callable[[], frozenset[T]]) -> frozenset[T]:
        """Some of the files, found once for all statements."""
        if what not in self._found:
            self._found[what] = find()
        return self._found[what]

    def _uncounted(self, field_id: int) -> pa.Array:
        return pc.and_(self.counts("value_counts", field_id).is_null(), self.counts("column_sizes", field_id).is_null())

    def _known_ranges(self, field_id: int, kind: IcebergType) -> list[Range]:
        arrow = kind_of(kind)
        if arrow is None:
            return []
        found = [range_of(self.table, field_id, arrow)]
        found += [range_of_partition(transform, kind, values) for transform, values in self._partitions(field_id)]
        return [r for r in found if r is not None]

    def _partitions(self, field_id: int) -> list[tuple[Transform[Any, Any], pa.Array]]:
        """Each transform of a column that files are partitioned by, with the value of every file (NULL for those of
        another partitioning)."""
        found = []
        for transform in dict.fromkeys(f.transform for s in self._specs.values() for f in _of(s, field_id)):
            parts = [self._values(m, field_id, transform) for m in self._manifests]
            kinds = {p.type for p in parts if not pa.types.is_null(p.type)}
            if len(kinds) == 1:  # of a column whose type was widened since, the bounds know enough
                kind = kinds.pop()
                found.append((transform, pa.concat_arrays([p.cast(kind) for p in parts])))
        return found

    def _values(self, of: Manifest, field_id: int, transform: Transform[Any, Any]) -> pa.Array:
        spec = self._specs[of.spec_id]
        place = next(
            (i for i, f in enumerate(spec.fields) if f in _of(spec, field_id) and f.transform == transform), -1
        )
        if place < 0 or of.partitions is None or len(of.partitions.type) != len(spec.fields):
            return pa.nulls(of.files.num_rows)
        return of.partitions.field(place)


def _true(mask: Any) -> frozenset[int]:
    return frozenset(pc.indices_nonzero(mask).to_pylist())


def _of(spec: PartitionSpec, field_id: int) -> list[PartitionField]:
    return [f for f in spec.fields if f.source_id == field_id]


def files_of(table: IcebergTable, cache: ManifestCache) -> SnapshotFiles:
    """The data files of the table's current snapshot."""
    metadata, snapshot = table.handle.metadata, table.handle.current_snapshot()
    if snapshot is None:
        return SnapshotFiles([], {}, has_deletes=False)
    path = snapshot.manifest_list
    try:
        if not path:
            raise ValueError(f"snapshot {snapshot.snapshot_id} names no list of manifests")
        return cache.get("snapshot", path, lambda: _read(table, metadata, path, cache))
    except PinakesError:
        raise
    except Exception as error:
        name = ".".join((*table.namespace, table.name))
        damaged = DataCorrupt(f"table {name}: its manifests cannot be read: {_short(error)}")
        raise translate_foreign(error, f"table {name}") or damaged from error


def _read(table: IcebergTable, metadata: TableMetadata, path: str, cache: ManifestCache) -> SnapshotFiles:
    listed = manifest_list(cache, table.handle.io, path)
    manifests = [manifest(cache, table.handle.io, *entry) for entry in listed.data]
    return SnapshotFiles(manifests, metadata.specs(), has_deletes=listed.has_deletes)


def _short(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0][:500]
