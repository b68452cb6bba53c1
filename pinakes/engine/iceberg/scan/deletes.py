"""Which deletes apply to which data files: the rules of the format, decided from manifests alone.

A deletion vector belongs to one data file, and holds whatever files of positions said of it before. Positions are for
the file that they name, or for those of their partition; values (deletes by equality) for all files of their partition,
or of the table, if they are of an unpartitioned spec. No delete reaches data that is younger than itself; values reach
none that came with them either.
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
"""The field id of the column of paths in files of positions."""

Partition = tuple[int, tuple[Any, ...]]
"""A partition spec, and the values that a file has under it."""


@dataclass(frozen=True, slots=True)
class DeleteFile:
    """A file of deletes, or the part of one that is a deletion vector."""

    path: str
    format: str
    content: int
    sequence_number: int
    partition: Partition
    record_count: int
    size: int
    equality_ids: tuple[int, ...] = ()
    target: str | None = None
    """The one data file that it is for."""
    paths: tuple[bytes | None, bytes | None] = (None, None)
    """Between which the paths of its data files are."""
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
    """Those that apply to one data file."""

    positions: tuple[DeleteFile, ...] = ()
    """One deletion vector, or any number of files of positions."""
    equality: tuple[DeleteFile, ...] = ()
    """Files of values: a row that has them, in the columns of `equality_ids`, is gone."""

    def __bool__(self) -> bool:
        return bool(self.positions or self.equality)

    @property
    def files(self) -> tuple[DeleteFile, ...]:
        return (*self.positions, *self.equality)


NONE = Deletes()


def delete_files(manifests: Iterable[Manifest]) -> list[DeleteFile]:
    """All delete files of a snapshot, in the order of their manifests."""
    return [file for manifest in manifests for file in _of_manifest(manifest)]


def partitions_of(manifest: Manifest) -> list[Partition]:
    """The partition of every file of a manifest, so that those of data and of deletes can be compared."""
    if manifest.partitions is None:
        return [(manifest.spec_id, ())] * manifest.files.num_rows
    columns = [[_comparable(v) for v in column.to_pylist()] for column in manifest.partitions.flatten()]
    return [(manifest.spec_id, values) for values in zip(*columns, strict=True)]


class PositionDeletes:
    """Files of positions and deletion vectors, by what they are for."""

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
        """Whether it must be known of data files in which partition they are."""
        return bool(self._by_partition)

    def of(self, path: str, sequence_number: int, partition: Partition | None) -> tuple[DeleteFile, ...]:
        """Those that apply to a data file. `partition` may be left out if none are of partitions."""
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
    """What day() makes is a date in some manifests, a number in others; NaN is a partition, and
    -0.0 another than 0.0."""
    if type(value) is date:
        return pa.scalar(value).cast(pa.int32()).as_py()
    return float.hex(value) if isinstance(value, float) else value
