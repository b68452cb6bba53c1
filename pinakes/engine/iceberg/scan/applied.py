"""Assigns delete files to the data files of a snapshot. Data files without deletes are clean.

Equality deletes are compared with the bounds of data files first: a file that cannot contain their values stays clean.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
from pyiceberg import types as ice
from pyiceberg.table.metadata import TableMetadata

from pinakes.engine.iceberg.scan.bounds import Range, counts, is_floating, kind_of, range_of
from pinakes.engine.iceberg.scan.deletes import (
    EQUALITY,
    NONE,
    DeleteFile,
    Deletes,
    Partition,
    PositionDeletes,
    delete_files,
    partitions_of,
)
from pinakes.engine.iceberg.scan.manifests import Manifest

if TYPE_CHECKING:
    from pinakes.engine.iceberg.scan.snapshot import SnapshotFiles


def deletes_of(files: SnapshotFiles, manifests: Sequence[Manifest], metadata: TableMetadata) -> dict[int, Deletes]:
    """Returns the deletes of each data file that has any, by file number."""
    positions = PositionDeletes(delete_files(manifests))
    found = {number: Deletes(by_position) for number, by_position in _positions(files, positions)}
    for number, by_value in _Values(files, metadata).found(manifests).items():
        found[number] = Deletes(found.get(number, NONE).positions, tuple(by_value))
    return found


def _positions(files: SnapshotFiles, deletes: PositionDeletes) -> list[tuple[int, tuple[DeleteFile, ...]]]:
    sequence = files.table.column("sequence_number").to_pylist()
    partitions: Sequence[Partition | None] = _partitions(files) if deletes.are_of_partitions else [None] * len(sequence)
    each = enumerate(zip(files.paths, sequence, partitions, strict=True))
    return [(number, of) for number, file in each if (of := deletes.of(*file))]


def _partitions(files: SnapshotFiles) -> list[Partition]:
    return [partition for manifest in files.manifests for partition in partitions_of(manifest)]


class _Values:
    """Assigns equality delete files to data files."""

    def __init__(self, files: SnapshotFiles, metadata: TableMetadata) -> None:
        self._files = files
        self._sequence = files.table.column("sequence_number")
        self._unpartitioned = {i for i, spec in metadata.specs().items() if spec.is_unpartitioned()}
        self._types = _types(metadata)
        self._by_partition: Mapping[Partition, list[int]] | None = None

    def found(self, manifests: Sequence[Manifest]) -> dict[int, list[DeleteFile]]:
        found: dict[int, list[DeleteFile]] = defaultdict(list)
        for manifest in manifests:
            for row, file in enumerate(delete_files([manifest])):
                if file.content == EQUALITY:
                    for number in self._numbers(manifest, row, file):
                        found[number].append(file)
        return found

    def _numbers(self, manifest: Manifest, row: int, file: DeleteFile) -> list[int]:
        """Returns the data files that a delete file applies to: older files of its partition with overlapping
        bounds.
        """
        mask = pc.less(self._sequence, file.sequence_number)
        for field_id in file.equality_ids:
            meets = self._meets(manifest.files.slice(row, 1), field_id)
            mask = mask if meets is None else pc.and_(mask, meets)
        numbers: list[int] = pc.indices_nonzero(mask).to_pylist()
        if file.partition[0] in self._unpartitioned:
            return numbers
        return sorted(set(numbers).intersection(self._of_partition(file.partition)))

    def _of_partition(self, partition: Partition) -> list[int]:
        if self._by_partition is None:
            self._by_partition = defaultdict(list)
            for number, of in enumerate(_partitions(self._files)):
                self._by_partition[of].append(number)
        return self._by_partition.get(partition, [])

    def _meets(self, deletes: pa.Table, field_id: int) -> pa.Array | None:
        """Returns true for each data file that may have a deleted value in a column; None if that is unknown."""
        kind = self._types.get(field_id)
        arrow = kind_of(kind) if kind is not None else None
        if kind is None or arrow is None or is_floating(arrow) or isinstance(kind, ice.UUIDType):
            return None
        mine = range_of(deletes, field_id, arrow)
        if mine is None or not (mine.least[0].is_valid and mine.greatest[0].is_valid):
            return None
        mask = None
        for known in self._files.ranges(field_id, kind):
            apart = _apart(mine, known)
            mask = apart if mask is None else pc.or_(mask, apart)
        return None if mask is None else pc.or_(pc.invert(mask), self._both_null(deletes, field_id))

    def _both_null(self, deletes: pa.Table, field_id: int) -> pa.Array:
        """Returns files that may match by NULL: bounds leave out NULL, and NULL equals NULL in equality deletes."""
        none = counts(deletes, "null_value_counts", field_id)[0].as_py() == 0
        theirs = pc.fill_null(pc.not_equal(self._files.counts("null_value_counts", field_id), 0), True)
        return pc.and_(theirs, not none)


def _apart(mine: Range, known: Range) -> pa.Array:
    before, after = pc.less(known.greatest, mine.least[0]), pc.greater(known.least, mine.greatest[0])
    return pc.or_(pc.fill_null(before, False), pc.fill_null(after, False))


def _types(metadata: TableMetadata) -> dict[int, ice.IcebergType]:
    """Returns the latest type of every current or dropped column."""
    found = {}
    for schema in [*sorted(metadata.schemas, key=lambda s: s.schema_id), metadata.schema()]:
        found.update({field.field_id: field.field_type for field in schema.fields})
    return found
