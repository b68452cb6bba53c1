"""An Iceberg table as DataFusion's own scan of exactly the files that can match; the way every query reads one.

While a query is planned the table stands there as a scan of nothing (`shadow`). Once DataFusion has pushed the
conditions down to it, `narrowed` chooses the files (`prune.py`) and makes the scan that is run: files that agree in the
names of their columns (`shapes.py`) are one native scan; those that carry deletes, or that DataFusion would not read
rightly, go through pyiceberg's reader (`dataset.py`).
"""

from __future__ import annotations

import itertools
import os
import secrets
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from datafusion import DataFrame, Expr, SessionContext, col
from datafusion import Table as Provider
from pyarrow import types as is_
from pyiceberg import types as ice
from pyiceberg.transforms import IdentityTransform

from pinakes.caches.manifests import ManifestCache
from pinakes.core.catalog import IcebergTable
from pinakes.core.errors import DataCorrupt
from pinakes.core.iceberg_arrow import arrow_schema_of
from pinakes.core.names import quote
from pinakes.engine.scan.dataset import IcebergDataset
from pinakes.engine.scan.defaults import default_of
from pinakes.engine.scan.exact import exact
from pinakes.engine.scan.locations import address_of, local_path
from pinakes.engine.scan.misleading import may_mislead
from pinakes.engine.scan.native import scan_of, union, unskipped, uuid_as_text
from pinakes.engine.scan.prune import Pruner
from pinakes.engine.scan.shapes import NAME_MAPPING, NoShape, Shape, is_uniform, named_alike, shape_of
from pinakes.engine.scan.snapshot import SnapshotFiles, files_of
from pinakes.engine.scan.tasks import Task, plan

FEW = 4
"""Files of a table that is not worth narrowing: DataFusion itself leaves out what can't match of so few."""

_NUMBERS = itertools.count(1)
_TOKEN = secrets.token_hex(16)
"""Nobody can guess it: so no text of a query is taken for the path of a shadow."""


@dataclass(frozen=True, slots=True)
class Watched:
    """A file that a query reads natively, and how long it must be."""

    table: str
    path: str
    size: int

    def check(self) -> None:
        """DataFusion leaves out a file that is not there, and reads of one that was replaced what it finds."""
        try:
            size = os.stat(self.path).st_size  # noqa: PTH116 - a Path takes longer to make than to look at
        except OSError as error:
            raise DataCorrupt(f"table {self.table}: {self.path} cannot be read: {error.strerror}") from error
        if size < self.size:
            raise DataCorrupt(f"table {self.table}: {self.path} has {size} bytes; the metadata says {self.size}")


@dataclass(frozen=True, slots=True)
class _Verdict:
    """Whether the statistics of a file mislead; for the cache."""

    misleads: bool
    nbytes: int = 200


@dataclass(frozen=True, slots=True)
class Narrowed:
    """The scan that is run."""

    provider: Provider
    watched: list[Watched]


class IcebergScan:
    """One table at the snapshot it was loaded with, as one statement reads it."""

    def __init__(self, table: IcebergTable, zone: str, cache: ManifestCache, context: SessionContext) -> None:
        self._table = table
        self._zone = zone
        self._cache = cache
        self._context = context
        self._iceberg = table.handle.schema()
        self.files: SnapshotFiles = files_of(table, cache)
        self.schema = scan_schema(arrow_schema_of(self._iceberg, zone))
        self._alike = named_alike(self._iceberg)
        self.marker = f"file:///{_TOKEN}/{next(_NUMBERS)}".encode()

    @property
    def is_worth_narrowing(self) -> bool:
        return len(self.files) > FEW

    def shadow(self) -> Provider:
        """The table while a query is planned. Were it run, this module would be read as a Parquet file, and fail."""
        urls = (Path(__file__).as_uri(), self.marker.decode())
        return self._native(urls, self._alike).into_view()

    def narrowed(self, scans: Iterable[Sequence[Expr]] = ()) -> Narrowed:
        """The table as a query reads it whose scans of it have these conditions."""
        numbers = Pruner(self.files, self._iceberg).files(scans)
        native, plain = self._divided(numbers)
        frames = [self._native((address_of(path) for _, path in group), shape) for shape, group in native.items()]
        if plain:
            tasks = [self._tasks[path] for path in plain]
            dataset = IcebergDataset(self._table, self._zone, tasks=tasks, schema=self._plain_schema)
            frames.append(self._context.read_table(exact(dataset)))
        watched = [Watched(self._name, p, self.files.sizes[n]) for group in native.values() for n, p in group]
        return Narrowed((union(frames) if frames else self._nothing()).into_view(), watched)

    # --- which way a file goes ------------------------------------------------------------------------------------

    def _divided(self, numbers: Sequence[int]) -> tuple[dict[Shape, list[tuple[int, str]]], list[str]]:
        """The files for native scans, by shape, and the paths of all others."""
        native: dict[Shape, list[tuple[int, str]]] = defaultdict(list)
        plain: list[str] = []
        for number in numbers:
            path = local_path(self.files.paths[number])
            shape = self._shape(number, path) if path is not None else NoShape()
            if path is None or isinstance(shape, NoShape):
                plain.append(self.files.paths[number])
            else:
                native[shape].append((number, path))
        return native, plain

    def _shape(self, number: int, path: str) -> Shape | NoShape:
        if not self._is_readable or number in self.files.not_plain_parquet or number in self._one_valued:
            return NoShape()
        if self.files.paths[number] in self._dirty or (number in self.files.in_parts and self._misleads(path)):
            return NoShape()
        if self._is_uniform and number not in self._incomplete:
            return self._alike
        # The names of a file are one thing, those of the table at this schema another.
        metadata = self._table.handle.metadata
        mapping = metadata.properties.get(NAME_MAPPING, "")
        key = f"{path} {metadata.table_uuid} {self._iceberg.schema_id} {hash(mapping)}"
        shape = self._cache.get("shape", key, partial(self._shape_by_footer, path))
        return NoShape() if isinstance(shape, NoShape) or self._lacks_partition(shape) else shape

    def _shape_by_footer(self, path: str) -> Shape | NoShape:
        return shape_of(self._footer(path), self._iceberg, self._table.handle.metadata.name_mapping())

    def _footer(self, path: str) -> pa.Schema:
        with self._reading(path):
            return pq.read_schema(path)

    @contextmanager
    def _reading(self, path: str) -> Iterator[None]:
        try:
            yield
        except (OSError, pa.ArrowException) as error:
            raise DataCorrupt(f"table {self._name}: {path} cannot be read: {str(error).splitlines()[0]}") from error

    def _misleads(self, path: str) -> bool:
        return self._cache.get("statistics", path, lambda: _Verdict(may_mislead(self._metadata(path)))).misleads

    def _metadata(self, path: str) -> pq.FileMetaData:
        with self._reading(path):
            return pq.read_metadata(path)

    def _lacks_partition(self, shape: Shape) -> bool:
        """Whether a column that the table is partitioned by is not in the file: its values are in the metadata only."""
        missing = {f.field_id for f, name in zip(self._iceberg.fields, shape.names, strict=True) if name is None}
        return bool(missing & self._partitioned)

    @cached_property
    def _is_readable(self) -> bool:
        """Whether DataFusion knows all types; and each file is there once."""
        return self.files.are_different and not any(_is_odd(field.field_type) for field in self._iceberg.fields)

    @cached_property
    def _is_uniform(self) -> bool:
        return is_uniform(self._table.handle.metadata, self._iceberg)

    @cached_property
    def _dirty(self) -> frozenset[str]:
        """The files some of whose rows are deleted."""
        if not self.files.has_deletes:
            return frozenset()
        return frozenset(path for path, task in self._tasks.items() if not task.is_clean)

    @cached_property
    def _tasks(self) -> dict[str, Task]:
        """What pyiceberg's reader is given of each file; planned once per snapshot."""
        if self.files.tasks is None:
            self.files.tasks = {task.file.file_path: task for task in plan(self._table)}
        return self.files.tasks

    @cached_property
    def _one_valued(self) -> frozenset[int]:
        """The files in which DataFusion would take a floating column for a constant, and overlook NaN in it."""
        floating = [
            f.field_id for f in self._iceberg.fields if isinstance(f.field_type, ice.FloatType | ice.DoubleType)
        ]
        return frozenset().union(*(self.files.one_valued(field_id) for field_id in floating))

    @cached_property
    def _partitioned(self) -> set[int]:
        """The columns whose values the metadata has, too."""
        specs = self._table.handle.metadata.specs().values()
        return {f.source_id for s in specs for f in s.fields if isinstance(f.transform, IdentityTransform)}

    @cached_property
    def _incomplete(self) -> frozenset[int]:
        """Files that may lack a column which is not NULL for that: it has a default, or the partition has its value.
        A column that is counted is there."""
        fields = self._iceberg.fields
        defaults = {f.field_id for f in fields if f.initial_default is not None}
        wanted = defaults | (self._partitioned & {f.field_id for f in fields})
        return frozenset().union(*(self.files.uncounted(field_id) for field_id in wanted))

    # --- scans ----------------------------------------------------------------------------------------------------

    def _native(self, urls: Iterable[str], shape: Shape) -> DataFrame:
        named = list(zip(self._iceberg.fields, self.schema, shape.names, strict=True))
        stored = pa.schema([_stored(f, shown).with_name(name) for f, shown, name in named if name is not None])
        columns = [_column(f, shown, name) for f, shown, name in named]
        return scan_of(self._context, urls, stored).select(*columns)

    def _nothing(self) -> DataFrame:
        empty = pa.RecordBatch.from_pylist([], schema=self.schema)
        return SessionContext().create_dataframe([[empty]])

    @cached_property
    def _plain_schema(self) -> pa.Schema:
        """What pyiceberg's reader is to give: NULL may be everywhere, as in the native scans beside it."""
        shown = arrow_schema_of(self._iceberg, self._zone)
        return pa.schema([pa.field(f.name, nullable(f.type)) for f in shown])

    @property
    def _name(self) -> str:
        return ".".join((*self._table.namespace, self._table.name))


# --- types -------------------------------------------------------------------------------------------------------


def scan_schema(shown: pa.Schema) -> pa.Schema:
    """The schema of a scan. A column that is NOT NULL may be missing in an old file, so NULL may be everywhere; texts
    are views, which DataFusion is fastest with."""
    views = {pa.string(): pa.string_view()}
    return pa.schema([pa.field(f.name, views.get(f.type, nullable(f.type))) for f in shown])


def nullable(t: pa.DataType) -> pa.DataType:
    """The same type, and NULL may be in all of its members."""
    if is_.is_struct(t):
        return pa.struct([pa.field(f.name, nullable(f.type)) for f in t.fields])
    if is_.is_map(t):
        return pa.map_(nullable(t.key_type), pa.field(t.item_field.name, nullable(t.item_type)))
    if is_.is_list(t):
        return pa.list_(pa.field(t.value_field.name, nullable(t.value_type)))
    return t


def _is_odd(t: ice.IcebergType, *, within: bool = False) -> bool:
    match t:
        case ice.StructType():
            return any(_is_odd(f.field_type, within=True) for f in t.fields)
        case ice.ListType():
            return _is_odd(t.element_type, within=True)
        case ice.MapType():
            return _is_odd(t.key_type, within=True) or _is_odd(t.value_type, within=True)
    return isinstance(t, ice.UnknownType | ice.GeometryType | ice.GeographyType) or (
        within and isinstance(t, ice.UUIDType)
    )


def _stored(field: ice.NestedField, shown: pa.Field) -> pa.Field:
    return shown.with_type(pa.binary(16)) if isinstance(field.field_type, ice.UUIDType) else shown


def _column(field: ice.NestedField, shown: pa.Field, name: str | None) -> Expr:
    if name is None:
        return default_of(field, shown.type).alias(field.name)
    column = col(quote(name))
    if isinstance(field.field_type, ice.UUIDType):
        return uuid_as_text()(column).alias(field.name)
    if is_.is_floating(shown.type):
        return unskipped(column).alias(field.name)
    return column.alias(field.name) if name != field.name else column
