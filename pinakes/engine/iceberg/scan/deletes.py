"""Assigns deletes to data files by the rules of the Iceberg format, from manifests only.

A deletion vector belongs to one data file, and replaces all earlier position delete files for it. A position delete
file applies to the file that it names, or to those of its partition. An equality delete file applies to all files of
its partition, or of the table if its spec is unpartitioned. Deletes never apply to newer data; equality deletes also do
not apply to data of the same sequence number.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from typing import Any

import pyarrow as pa

from pinakes.engine.iceberg.scan.manifests import Manifest

POSITIONS, EQUALITY = 1, 2
PUFFIN = "PUFFIN"
_PATH_ID = 2147483546
"""The field id of the path column in position delete files."""

Partition = tuple[int, tuple[Any, ...]]
"""A partition spec id, and the partition values of a file."""


@dataclass(frozen=True, slots=True)
class DeleteFile:
    """A delete file, or a deletion vector within a Puffin file."""

    path: str
    format: str
    content: int
    sequence_number: int
    partition: Partition
    record_count: int
    size: int
    equality_ids: tuple[int, ...] = ()
    target: str | None = None
    """The only data file that it applies to."""
    paths: tuple[bytes | None, bytes | None] = (None, None)
    """Bounds of the paths of its data files."""
    offset: int | None = None
    length: int | None = None

    @property
    def is_vector(self) -> bool:
        return self.format == PUFFIN

    def may_name(self, path: str) -> bool:
        least, greatest = self.paths
        written = path.encode()
        return (least is None or least <= written) and (greatest is None or written <= greatest)


@dataclass(frozen=True, slots=True)
class Deletes:
    """The deletes that apply to one data file."""

    positions: tuple[DeleteFile, ...] = ()
    """One deletion vector, or any number of position delete files."""
    equality: tuple[DeleteFile, ...] = ()
    """Equality delete files: a row with their values in the columns of `equality_ids` is deleted."""

    def __bool__(self) -> bool:
        return bool(self.positions or self.equality)

    @property
    def files(self) -> tuple[DeleteFile, ...]:
        return (*self.positions, *self.equality)


NONE = Deletes()


def delete_files(manifests: Iterable[Manifest]) -> list[DeleteFile]:
    """Returns all delete files of a snapshot, in the order of their manifests."""
    return [file for manifest in manifests for file in _of_manifest(manifest)]


def partitions_of(manifest: Manifest) -> list[Partition]:
    """Returns the partition of each file of a manifest, in a form that data and delete files share."""
    if manifest.partitions is None:
        return [(manifest.spec_id, ())] * manifest.files.num_rows
    columns = [[_comparable(v) for v in column.to_pylist()] for column in manifest.partitions.flatten()]
    return [(manifest.spec_id, values) for values in zip(*columns, strict=True)]


class PositionDeletes:
    """Position delete files and deletion vectors, indexed by data file and by partition."""

    def __init__(self, files: Sequence[DeleteFile]) -> None:
        self._vectors: dict[str, DeleteFile] = {}
        self._by_path: Mapping[str, list[DeleteFile]] = defaultdict(list)
        self._by_partition: Mapping[Partition, list[DeleteFile]] = defaultdict(list)
        for file in (f for f in files if f.content == POSITIONS):
            self._add(file)

    def _add(self, file: DeleteFile) -> None:
        if file.is_vector:
            if file.target is None or file.offset is None or file.length is None:
                raise ValueError(f"{file.path} has a deletion vector of no data file, or of no length")
            if file.target in self._vectors:
                raise ValueError(f"{file.target} has two deletion vectors")
            self._vectors[file.target] = file
        elif file.target is not None:
            self._by_path[file.target].append(file)
        else:
            self._by_partition[file.partition].append(file)

    @cached_property
    def are_of_partitions(self) -> bool:
        """Whether the partitions of data files are needed."""
        return bool(self._by_partition)

    def of(self, path: str, sequence_number: int, partition: Partition | None) -> tuple[DeleteFile, ...]:
        """Returns the deletes of a data file. `partition` may be None if no delete is scoped to a partition."""
        vector = self._vectors.get(path)
        if vector is not None and sequence_number <= vector.sequence_number:
            return (vector,)
        named = self._by_path.get(path, ())
        near = self._by_partition.get(partition, ()) if partition is not None else ()
        found = (*named, *(file for file in near if file.may_name(path)))
        return tuple(file for file in found if sequence_number <= file.sequence_number)


def _of_manifest(manifest: Manifest) -> Iterator[DeleteFile]:
    for row, partition in zip(manifest.files.to_pylist(), partitions_of(manifest), strict=True):
        least, greatest = (_bound(row[column]) for column in ("lower_bounds", "upper_bounds"))
        one = least.decode() if least is not None and least == greatest else None
        yield DeleteFile(
            path=row["file_path"],
            format=row["file_format"].upper(),
            content=_known(row["content"], row["file_path"]),
            sequence_number=row["sequence_number"],
            partition=partition,
            record_count=row["record_count"],
            size=row["file_size_in_bytes"],
            equality_ids=tuple(sorted(row["equality_ids"] or ())),
            target=row["referenced_data_file"] or one,
            paths=(least, greatest),
            offset=row["content_offset"],
            length=row["content_size_in_bytes"],
        )


def _known(content: int | None, path: str) -> int:
    if content not in (POSITIONS, EQUALITY):
        raise ValueError(f"{path} stands among deletes, and is none: its content is {content}")
    return content


def _bound(pairs: list[dict[str, Any]] | None) -> bytes | None:
    return next((pair["value"] for pair in pairs or () if pair["key"] == _PATH_ID), None)


def _comparable(value: Any) -> Any:
    """Returns a hashable, comparable value. day() is a date in some manifests and a number in others; NaN equals
    itself, and -0.0 differs from 0.0.
    """
    if type(value) is date:
        return pa.scalar(value).cast(pa.int32()).as_py()
    return float.hex(value) if isinstance(value, float) else value
