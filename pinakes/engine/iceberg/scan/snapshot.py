"""The data files of one snapshot with their statistics: the input of pruning.

Built once per snapshot and cached. The bounds of a column are decoded when a query first needs them.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Any, TypeVar

import pyarrow as pa
import pyarrow.compute as pc
from pyiceberg.io import FileIO
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.table.metadata import TableMetadata
from pyiceberg.transforms import BucketTransform, Transform
from pyiceberg.typedef import Record
from pyiceberg.types import IcebergType

from pinakes.caches.files import ManifestCache
from pinakes.core.catalog import IcebergTable
from pinakes.engine.iceberg.scan.applied import deletes_of
from pinakes.engine.iceberg.scan.bounds import Range, counts, in_parts, kind_of, one_valued, range_of
from pinakes.engine.iceberg.scan.deletes import Deletes
from pinakes.engine.iceberg.scan.locations import remembered_as
from pinakes.engine.iceberg.scan.manifests import SCHEMA, Listed, Manifest, delete_manifest, manifest, manifest_list
from pinakes.engine.iceberg.scan.parallel_reads import read_in_parallel
from pinakes.engine.iceberg.scan.partitions import range_of_partition
from pinakes.engine.iceberg.scan.unreadable import reading

T = TypeVar("T", int, str)


@dataclass(frozen=True, slots=True)
class Buckets:
    """The bucket of each file for one bucket transform; NULL if unknown."""

    transform: BucketTransform[Any]
    values: pa.Array


class SnapshotFiles:
    """Files by number: the rows of `table`, which has the columns of `manifests.SCHEMA`."""

    def __init__(self, manifests: Sequence[Manifest], specs: dict[int, PartitionSpec]) -> None:
        self.described_by: tuple[Any, ...] = ()
        """What the metadata says besides the manifests, as it was when this was made."""
        self.deletes: dict[int, Deletes] = {}
        """The deletes of each file that has any."""
        self.manifests = sorted(manifests, key=lambda m: m.spec_id)
        """The manifests in the order of the files."""
        self._ends = list(accumulate(m.files.num_rows for m in self.manifests))
        self._specs = specs
        tables = [m.files for m in self.manifests]
        self.table = pa.concat_tables(tables).combine_chunks() if tables else SCHEMA.empty_table()
        self._ranges: dict[tuple[int, str], list[Range]] = {}
        self._bounds: dict[tuple[int, str], Range | None] = {}
        self._found: dict[str, frozenset[Any]] = {}
        self._counts: dict[tuple[str, int], pa.Array] = {}
        self._not_all_null: dict[int, pa.Array] = {}
        self._buckets: dict[int, list[Buckets]] = {}

    def __len__(self) -> int:
        return int(self.table.num_rows)

    @property
    def nbytes(self) -> int:
        """The estimated memory; the decoded columns take about as much as the table itself."""
        return 2 * int(self.table.nbytes) + 1000

    @cached_property
    def paths(self) -> list[str]:
        found: list[str] = self.table.column("file_path").to_pylist()
        return found

    @cached_property
    def rows(self) -> int:
        """The row count of all files, including deleted rows."""
        return int(pc.sum(self.table.column("record_count")).as_py() or 0)

    @cached_property
    def sizes(self) -> list[int]:
        found: list[int] = self.table.column("file_size_in_bytes").to_pylist()
        return found

    @cached_property
    def row_counts(self) -> list[int]:
        """The row count of each file, including deleted rows."""
        found: list[int] = self.table.column("record_count").to_pylist()
        return found

    @cached_property
    def numbers(self) -> dict[str, int]:
        """File numbers by path."""
        return {path: number for number, path in enumerate(self.paths)}

    def manifests_of(self, numbers: Iterable[int]) -> set[str]:
        """Returns the paths of the manifests that list these files."""
        return {self.manifests[bisect_right(self._ends, number)].path for number in numbers}

    @cached_property
    def are_different(self) -> bool:
        """Whether no file is listed more than once."""
        return len(set(self.paths)) == len(self)

    @cached_property
    def not_plain_parquet(self) -> frozenset[int]:
        """Files of other formats, and encrypted files."""
        other = pc.not_equal(pc.utf8_upper(self.table.column("file_format")), "PARQUET")
        return _true(pc.or_(other, pc.is_valid(self.table.column("key_metadata"))))

    def partition(self, number: int) -> tuple[int, Record]:
        """Returns the partition spec id and the partition values of a file."""
        place = bisect_right(self._ends, number)
        of = self.manifests[place]
        if of.partitions is None:
            return of.spec_id, Record()
        row = number - (self._ends[place] - of.files.num_rows)
        return of.spec_id, Record(*of.partitions[row].as_py().values())

    def ranges(self, field_id: int, kind: IcebergType) -> list[Range]:
        """Returns all known ranges of a column: from its bounds and from partition values."""
        key = (field_id, str(kind))
        if key not in self._ranges:
            self._ranges[key] = list(self._known_ranges(field_id, kind))
        return self._ranges[key]

    def counts(self, column: str, field_id: int) -> pa.Array:
        """Returns a count of a column (see `bounds.counts`)."""
        if (column, field_id) not in self._counts:
            self._counts[column, field_id] = counts(self.table, column, field_id)
        return self._counts[column, field_id]

    def not_all_null(self, field_id: int) -> pa.Array:
        """Returns true for each file that may have a non-NULL value of a column."""
        if field_id not in self._not_all_null:
            nulls, values = (self.counts(c, field_id) for c in ("null_value_counts", "value_counts"))
            self._not_all_null[field_id] = pc.fill_null(pc.not_equal(nulls, values), True)
        return self._not_all_null[field_id]

    def buckets(self, field_id: int) -> list[Buckets]:
        if field_id not in self._buckets:
            known = [(t, values) for t, values in self._partitions(field_id) if isinstance(t, BucketTransform)]
            self._buckets[field_id] = [Buckets(transform, values.cast(pa.int32())) for transform, values in known]
        return self._buckets[field_id]

    def one_valued(self, field_id: int) -> frozenset[int]:
        """Returns the files whose floating-point column may have NaN and a single other value.

        Statistics leave out NaN: if minimum and maximum are equal, DataFusion concludes that all values are.
        """
        return self.remembered(f"one-valued {field_id}", lambda: _true(one_valued(self.table, field_id)))

    @cached_property
    def in_parts(self) -> frozenset[int]:
        """Files that may have several row groups."""
        return _true(in_parts(self.table))

    def uncounted(self, field_id: int) -> frozenset[int]:
        """Returns the files whose metadata does not show that they have a column."""
        return self.remembered(f"uncounted {field_id}", lambda: _true(self._uncounted(field_id)))

    def remembered(self, what: str, find: Callable[[], frozenset[T]]) -> frozenset[T]:
        """Returns a cached set of files; computes it on first use."""
        if what not in self._found:
            self._found[what] = find()
        return self._found[what]

    def _uncounted(self, field_id: int) -> pa.Array:
        return pc.and_(self.counts("value_counts", field_id).is_null(), self.counts("column_sizes", field_id).is_null())

    def _known_ranges(self, field_id: int, kind: IcebergType) -> list[Range]:
        arrow = kind_of(kind)
        if arrow is None:
            return []
        bounds = self.bounds(field_id, arrow)
        return [*([bounds] if bounds is not None else []), *self.partition_ranges(field_id, kind)]

    def bounds(self, field_id: int, arrow: pa.DataType) -> Range | None:
        """Returns the bounds of a column only (see `bounds.range_of`)."""
        key = (field_id, str(arrow))
        if key not in self._bounds:
            self._bounds[key] = range_of(self.table, field_id, arrow)
        return self._bounds[key]

    def partition_ranges(self, field_id: int, kind: IcebergType) -> list[Range]:
        """Returns the ranges of a column from partition values only."""
        found = [range_of_partition(transform, kind, values) for transform, values in self._partitions(field_id)]
        return [r for r in found if r is not None]

    def _partitions(self, field_id: int) -> list[tuple[Transform[Any, Any], pa.Array]]:
        """Returns each partition transform of a column with the value of every file (NULL for files of another
        spec).
        """
        found = []
        for transform in dict.fromkeys(f.transform for s in self._specs.values() for f in _of(s, field_id)):
            parts = [self._values(m, field_id, transform) for m in self.manifests]
            kinds = {p.type for p in parts if not pa.types.is_null(p.type)}
            if len(kinds) == 1:  # if the column's type was widened, its bounds suffice
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


def _description(metadata: TableMetadata) -> tuple[Any, ...]:
    """What a snapshot's files are understood by. Mostly the very same objects, which are compared at once."""
    return metadata.partition_specs, metadata.schemas, metadata.current_schema_id


def files_of(table: IcebergTable, cache: ManifestCache) -> SnapshotFiles:
    """Returns the data files of the table's current snapshot."""
    metadata, snapshot = table.handle.metadata, table.handle.current_snapshot()
    if snapshot is None:
        return SnapshotFiles([], {})
    path = snapshot.manifest_list
    with reading(table, path or "the table's metadata"):
        if not path:
            raise ValueError(f"snapshot {snapshot.snapshot_id} names no list of manifests")
        key = f"{remembered_as(path, table.handle.io)} {metadata.last_column_id} {len(metadata.schemas)}"
        found = cache.get("snapshot", key, lambda: _read(table, metadata, path, cache))
        # Another catalog may have named the same list, and have said something else of its columns and partitions.
        return found if found.described_by == _description(metadata) else _read(table, metadata, path, cache)


def _read(table: IcebergTable, metadata: TableMetadata, path: str, cache: ManifestCache) -> SnapshotFiles:
    listed = manifest_list(cache, table.handle.io, path)

    def each(listed: Sequence[Listed], read: Callable[[ManifestCache, FileIO, Listed], Manifest]) -> list[Manifest]:
        def one(manifest: Listed) -> Manifest:
            with reading(table, manifest.path):
                return read(cache, table.handle.io, manifest)

        return read_in_parallel(one, listed)

    files = SnapshotFiles(each(listed.data, manifest), metadata.specs())
    files.described_by = _description(metadata)
    files.deletes = deletes_of(files, each(listed.deletes, delete_manifest), metadata) if listed.deletes else {}
    return files


def version_of(table: IcebergTable) -> tuple[str, str, int | None, int]:
    """Identifies the rows and columns of a table at this moment. A file of metadata alone
    does not everywhere: a table that is dropped and made again may have one of the same name."""
    metadata = table.handle.metadata
    location = table.handle.metadata_location or ""
    return str(metadata.table_uuid), location, metadata.current_snapshot_id, metadata.current_schema_id
