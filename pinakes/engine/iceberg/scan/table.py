"""An Iceberg table as a DataFusion scan of exactly the files that may match; every query reads tables this way.

While a query is planned the table is a placeholder scan (`shadow`). After DataFusion has pushed the predicates down to
it, `answered` prunes the files (`prune.py`) and creates the scan to run: files with the same column names are one
native scan; files that have deletes, or that DataFusion would misread, use pyiceberg's reader (`reader_selection.py`,
`dataset.py`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

import pyarrow as pa
from datafusion import DataFrame, Expr, SessionContext, col
from datafusion import Table as Provider
from pyarrow import types as is_
from pyiceberg import types as ice
from pyiceberg.schema import Schema

from pinakes.core.catalog import IcebergTable
from pinakes.core.errors import PermissionDenied
from pinakes.core.location import Location
from pinakes.core.names import quote
from pinakes.core.types.iceberg_arrow import arrow_schema_of
from pinakes.engine.datafusion.parquet_scan import scan_of, union, usual_nan, uuid_as_text
from pinakes.engine.datafusion.unfiltered_dataset import exact
from pinakes.engine.iceberg.scan import metadata_aggregates
from pinakes.engine.iceberg.scan.dataset import IcebergDataset
from pinakes.engine.iceberg.scan.defaults import default_of
from pinakes.engine.iceberg.scan.file_integrity import Watched
from pinakes.engine.iceberg.scan.locations import s3_place
from pinakes.engine.iceberg.scan.object_stores import TableStores
from pinakes.engine.iceberg.scan.prune import Pruner
from pinakes.engine.iceberg.scan.reader_selection import Division, Group
from pinakes.engine.iceberg.scan.shapes import Shape, named_alike
from pinakes.engine.iceberg.scan.snapshot import SnapshotFiles, files_of
from pinakes.engine.iceberg.scan.tasks import task_of
from pinakes.engine.iceberg.scan.unreadable import name_of
from pinakes.engine.iceberg.scan.vended_credentials import renew_if_ending, renew_if_refused
from pinakes.engine.pushdown.placeholder_scan import Placeholder, placeholder_scan
from pinakes.engine.pushdown.scan_requests import ScanRequest

if TYPE_CHECKING:
    from datafusion.plan import LogicalPlan

    from pinakes.engine.session import Session

FEW = 4
"""The maximum number of files of a local table that is not pruned here: DataFusion itself skips its files."""


@dataclass(frozen=True, slots=True)
class Narrowed:
    """The pruned scan to run."""

    provider: Provider
    watched: list[Watched]
    native: dict[Group, list[tuple[int, Watched]]]
    """The files that DataFusion reads, with their numbers, grouped by scan."""
    plain: dict[int, str]
    """The numbers of the files that pyiceberg reads, with the reason."""


class IcebergScan:
    """One table at the snapshot it was loaded with, as read by one statement."""

    def __init__(self, table: IcebergTable, session: Session) -> None:
        renew_if_ending(table)
        self._table = table
        self._session = session
        self._zone = session.settings.time_zone
        self._cache = session.manifests
        self._context = session.context
        self._iceberg = table.handle.schema()
        self.files: SnapshotFiles = self._read_files()
        self.schema = scan_schema(arrow_schema_of(self._iceberg, self._zone))
        self._alike = named_alike(self._iceberg)

    @property
    def is_worth_narrowing(self) -> bool:
        """Whether pruning pays off. Each file of an object store costs requests even if it does not match."""
        return len(self.files) > (FEW if self._is_local else 0)

    @property
    def _is_local(self) -> bool:
        return not self.files.paths or s3_place(Location.parse(self.files.paths[0])) is None

    @property
    def iceberg_schema(self) -> Schema:
        return self._iceberg

    @property
    def name(self) -> str:
        """The table's name in error messages."""
        return name_of(self._table)

    def renewed(self) -> bool:
        """Renews vended credentials that an object store has refused; returns whether they changed."""
        return renew_if_refused(self._table)

    def _read_files(self) -> SnapshotFiles:
        try:
            return files_of(self._table, self._cache)
        except PermissionDenied:
            if not self.renewed():
                raise
            return files_of(self._table, self._cache)

    @cached_property
    def placeholder(self) -> Placeholder:
        return placeholder_scan(self._stored(self._alike), self._context)

    def shadow(self) -> Provider:
        """Returns the placeholder scan for planning."""
        return self._selected(self.placeholder.frame, self._alike).into_view()

    def aggregates(self, optimized: LogicalPlan) -> DataFrame | None:
        """Returns the result of a plan that only aggregates the table, if metadata suffices."""
        return metadata_aggregates.answered(optimized, self, self._context)

    def answered(self, request: ScanRequest) -> Narrowed:
        """Returns the scan of the files that may have rows for which the predicate of the request is true."""
        if not self.is_worth_narrowing:
            return self.whole()
        return self.of(Pruner(self.files, self._iceberg).files(request.predicate))

    def whole(self) -> Narrowed:
        """Returns the scan of all files."""
        return self.of(range(len(self.files)))

    def of(self, numbers: Sequence[int]) -> Narrowed:
        """Returns the scan of these files."""
        divided = self._division().of(numbers)
        frames = [self._native((f.url for _, f in files), group.shape) for group, files in divided.native.items()]
        if divided.plain:
            tasks = [task_of(self.files, number) for number in divided.plain]
            dataset = IcebergDataset(self._table, self._zone, tasks=tasks, schema=self._plain_schema, cache=self._cache)
            frames.append(self._context.read_table(exact(dataset)))
        watched = [file for files in divided.native.values() for _, file in files]
        provider = (union(frames) if frames else self._nothing()).into_view()
        return Narrowed(provider, watched, divided.native, divided.plain)

    def _division(self) -> Division:
        engine, handle = self._session.engine, self._table.handle
        stores = TableStores(engine.object_stores, self._session.claims, handle.io, handle.metadata.location)
        own = engine.own_directories if engine.admission is not None else None
        return Division(self._table, self.files, self._session.footers, stores, own)

    # --- scans ----------------------------------------------------------------------------------------------------

    def _native(self, urls: Iterable[str], shape: Shape) -> DataFrame:
        return self._selected(scan_of(self._context, urls, self._stored(shape)), shape)

    def _stored(self, shape: Shape) -> pa.Schema:
        named = zip(self._iceberg.fields, self.schema, shape.names, strict=True)
        return pa.schema([_stored(f, shown).with_name(name) for f, shown, name in named if name is not None])

    def _selected(self, stored: DataFrame, shape: Shape) -> DataFrame:
        named = zip(self._iceberg.fields, self.schema, shape.names, strict=True)
        return stored.select(*(_column(f, shown, name) for f, shown, name in named))

    def _nothing(self) -> DataFrame:
        empty = pa.RecordBatch.from_pylist([], schema=self.schema)
        return SessionContext().create_dataframe([[empty]])

    @cached_property
    def _plain_schema(self) -> pa.Schema:
        """The schema of pyiceberg's reader: all columns are nullable, as in the native scans of the same union."""
        shown = arrow_schema_of(self._iceberg, self._zone)
        return pa.schema([pa.field(f.name, nullable(f.type)) for f in shown])


# --- types -------------------------------------------------------------------------------------------------------


def scan_schema(shown: pa.Schema) -> pa.Schema:
    """Returns the schema of a scan.

    All columns are nullable, since old files may lack a NOT NULL column. Strings are views, which DataFusion processes
    fastest.
    """
    views = {pa.string(): pa.string_view()}
    return pa.schema([pa.field(f.name, views.get(f.type, nullable(f.type))) for f in shown])


def nullable(t: pa.DataType) -> pa.DataType:
    """Returns the type with all members nullable."""
    if is_.is_struct(t):
        return pa.struct([pa.field(f.name, nullable(f.type)) for f in t.fields])
    if is_.is_map(t):
        return pa.map_(nullable(t.key_type), pa.field(t.item_field.name, nullable(t.item_type)))
    if is_.is_list(t):
        return pa.list_(pa.field(t.value_field.name, nullable(t.value_type)))
    return t


def _stored(field: ice.NestedField, shown: pa.Field) -> pa.Field:
    return shown.with_type(pa.binary(16)) if isinstance(field.field_type, ice.UUIDType) else shown


@lru_cache(maxsize=10_000)
def _named(name: str) -> Expr:
    """Returns a cached column expression: for a wide table, creating them takes longer than planning the query."""
    return col(quote(name))


def _column(field: ice.NestedField, shown: pa.Field, name: str | None) -> Expr:
    if name is None:
        return default_of(field, shown.type).alias(field.name)
    column = _named(name)
    if isinstance(field.field_type, ice.UUIDType):
        return uuid_as_text()(column).alias(field.name)
    found = usual_nan(column, shown.type)
    return column if found is column and name == field.name else found.alias(field.name)
