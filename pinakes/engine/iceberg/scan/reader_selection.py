"""Selects the reader of each file of a table: DataFusion's Parquet scan, or pyiceberg's reader.

DataFusion reads a file if its columns can be matched by name (`shapes.py`), it has no deletes, its statistics are not
misleading, and DataFusion can reach it: locally, or in an object store (`object_stores.py`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import NamedTuple

from pyiceberg import types as ice
from pyiceberg.transforms import IdentityTransform

from pinakes.caches.files import FooterCache
from pinakes.core.catalog import IcebergTable
from pinakes.core.location import Location
from pinakes.core.types.variant import VariantType
from pinakes.engine.datafusion.workarounds.bad_statistics import may_mislead
from pinakes.engine.files.reading.page_check import is_safe
from pinakes.engine.iceberg.scan.file_integrity import Local, Watched
from pinakes.engine.iceberg.scan.locations import local_path, remembered_as
from pinakes.engine.iceberg.scan.object_stores import TableStores
from pinakes.engine.iceberg.scan.shapes import NAME_MAPPING, NoShape, Shape, is_uniform, named_alike, shape_of
from pinakes.engine.iceberg.scan.snapshot import SnapshotFiles
from pinakes.engine.iceberg.scan.unreadable import name_of, reading
from pinakes.providers.iceberg.table_io import TableIO


class Group(NamedTuple):
    """Files that can share one scan: they have the same column names and are in one store."""

    shape: Shape
    host: str


@dataclass(slots=True)
class Divided:
    native: dict[Group, list[tuple[int, Watched]]] = field(default_factory=lambda: defaultdict(list))
    """The files that DataFusion reads, with their numbers."""
    plain: dict[int, str] = field(default_factory=dict)
    """The numbers of the files that pyiceberg reads, with the reason."""


@dataclass(frozen=True, slots=True)
class _Verdict:
    """Whether the statistics of a file are misleading; a cache entry."""

    misleads: bool
    nbytes: int = 200


class Division:
    """The files of one table at the snapshot it was loaded with."""

    def __init__(
        self,
        table: IcebergTable,
        files: SnapshotFiles,
        footers: FooterCache,
        stores: TableStores,
        own: Sequence[str] | None = None,
    ) -> None:
        """`own` are the directories of files that Pinakes wrote, on a server; other local files are checked."""
        self._table, self._files, self._footers, self._stores = table, files, footers, stores
        self._own = tuple(f"{directory.rstrip('/')}/" for directory in own or ())
        self._checks = own is not None
        self._name = name_of(table)
        self._iceberg = table.handle.schema()
        self._alike = named_alike(self._iceberg)
        self._directories: dict[str, bool] = {}
        """Directories that were checked: whether the table may have files there."""

    def of(self, numbers: Sequence[int]) -> Divided:
        found = Divided()
        for number in numbers:
            file = self._file(number)
            shape = self._shape(number, file) if file is not None else NoShape("a place that DataFusion does not reach")
            if isinstance(shape, NoShape):
                found.plain[number] = shape.why
            elif file is not None:
                found.native[Group(shape, file.host)].append((number, file))
        return found

    def _file(self, number: int) -> Watched | None:
        location, size = Location.parse(self._files.paths[number]), self._files.sizes[number]
        io = self._table.handle.io
        if isinstance(io, TableIO):
            io.check(location, self._directories)
        path = local_path(location)
        if path is None:
            return self._stores.file(self._name, location, size)
        return Local(self._name, path, size)

    def _shape(self, number: int, file: Watched) -> Shape | NoShape:
        if not self._is_readable:
            twice = not self._files.are_different
            return NoShape("a file that is there twice" if twice else "a type that DataFusion lacks")
        if number in self._files.not_plain_parquet:
            return NoShape("not Parquet, or encrypted")
        if number in self._files.deletes:
            return NoShape("deleted rows")
        if number in self._one_valued or (number in self._files.in_parts and self._misleads(file)):
            return NoShape("statistics that mislead")
        if self._checks and isinstance(file, Local) and not self._is_safe(file):
            return NoShape("an encoding whose sizes DataFusion trusts")
        if self._is_uniform and number not in self._incomplete:
            return self._alike
        shape = self._shape_by_footer(file)
        if isinstance(shape, NoShape) or not self._lacks_partition(shape):
            return shape
        return NoShape("values that only the partition has")

    def _is_safe(self, file: Local) -> bool:
        if file.path.startswith(self._own):
            return True
        with reading(self._table, file.path):
            return is_safe(file.path)

    # --- from footers ---------------------------------------------------------------------------------------------

    def _shape_by_footer(self, file: Watched) -> Shape | NoShape:
        """Returns the shape from the footer. The cache key has the schema id and name mapping, which determine the
        result.
        """
        mapping = self._table.handle.metadata.properties.get(NAME_MAPPING, "")
        key = f"{self._key(file)} {self._iceberg.schema_id} {hash(mapping)}"
        return self._footers.get("shape", key, partial(self._read_shape, file))

    def _read_shape(self, file: Watched) -> Shape | NoShape:
        with reading(self._table, file.path):
            schema = file.footer().schema.to_arrow_schema()
        return shape_of(schema, self._iceberg, self._table.handle.metadata.name_mapping())

    def _misleads(self, file: Watched) -> bool:
        return self._footers.get("statistics", self._key(file), partial(self._read_verdict, file)).misleads

    def _read_verdict(self, file: Watched) -> _Verdict:
        with reading(self._table, file.path):
            return _Verdict(may_mislead(file.footer()))

    def _key(self, file: Watched) -> str:
        """Returns the cache key of a file. It has the table and the size, since files that were not written for a table
        may be replaced before another table adds them.
        """
        where = remembered_as(file.path, self._table.handle.io)
        return f"{where} {self._table.handle.metadata.table_uuid} {file.size}"

    # --- from metadata --------------------------------------------------------------------------------------------

    def _lacks_partition(self, shape: Shape) -> bool:
        """Returns whether the file lacks a partition column, whose values are then only in the metadata."""
        missing = {f.field_id for f, name in zip(self._iceberg.fields, shape.names, strict=True) if name is None}
        return bool(missing & self._partitioned)

    @cached_property
    def _is_readable(self) -> bool:
        """Whether DataFusion supports all types, and no file is listed more than once."""
        return self._files.are_different and not any(_is_odd(field.field_type) for field in self._iceberg.fields)

    @cached_property
    def _is_uniform(self) -> bool:
        return is_uniform(self._table.handle.metadata, self._iceberg)

    @cached_property
    def _one_valued(self) -> frozenset[int]:
        """Files in which DataFusion would treat a floating-point column as constant and miss NaN."""
        floating = [
            f.field_id for f in self._iceberg.fields if isinstance(f.field_type, ice.FloatType | ice.DoubleType)
        ]
        return frozenset().union(*(self._files.one_valued(field_id) for field_id in floating))

    @cached_property
    def _partitioned(self) -> set[int]:
        """Columns with identity partitioning, whose values are also in the metadata."""
        specs = self._table.handle.metadata.specs().values()
        return {f.source_id for s in specs for f in s.fields if isinstance(f.transform, IdentityTransform)}

    @cached_property
    def _incomplete(self) -> frozenset[int]:
        """Files that may lack a column that is not NULL then: it has a default, or the partition has its value.

        A column with value counts is present.
        """
        fields = self._iceberg.fields
        defaults = {f.field_id for f in fields if f.initial_default is not None}
        wanted = defaults | (self._partitioned & {f.field_id for f in fields})
        return frozenset().union(*(self._files.uncounted(field_id) for field_id in wanted))


def _is_odd(t: ice.IcebergType, *, within: bool = False) -> bool:
    match t:
        case ice.StructType():
            return any(_is_odd(f.field_type, within=True) for f in t.fields)
        case ice.ListType():
            return _is_odd(t.element_type, within=True)
        case ice.MapType():
            return _is_odd(t.key_type, within=True) or _is_odd(t.value_type, within=True)
    return isinstance(t, ice.UnknownType | ice.GeometryType | ice.GeographyType | VariantType) or (
        within and isinstance(t, ice.UUIDType)
    )
