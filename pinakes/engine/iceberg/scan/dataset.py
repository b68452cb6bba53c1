"""An Iceberg table as a lazy Arrow dataset, read by pyiceberg.

DataFusion requests fragments (one per data file) when a query runs, and the columns of each; it filters rows itself
(`unfiltered_dataset.py`). pyiceberg's reader applies deletes and schema evolution, and batches are streamed.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping, Sequence
from operator import attrgetter
from typing import Any

import pyarrow as pa
import pyarrow.dataset as pds
from pyiceberg.expressions import AlwaysTrue
from pyiceberg.io.pyarrow import ArrowScan
from pyiceberg.schema import Schema
from pyiceberg.table import FileScanTask
from pyiceberg.types import BooleanType, DateType, DoubleType, FloatType, IntegerType, LongType

from pinakes.caches.files import ManifestCache
from pinakes.core.arrays.conform import conform
from pinakes.core.catalog import IcebergTable
from pinakes.core.errors import DataCorrupt
from pinakes.core.types.iceberg_arrow import arrow_schema_of
from pinakes.engine.datafusion.unfiltered_dataset import constant
from pinakes.engine.iceberg.scan.copies import readable_file, with_texts
from pinakes.engine.iceberg.scan.equality import EqualityDeletes
from pinakes.engine.iceberg.scan.lineage import LINEAGE, has_lineage, lineage_of, with_lineage
from pinakes.engine.iceberg.scan.positions import counting, deleted_rows, without
from pinakes.engine.iceberg.scan.tasks import Task, for_once, plan
from pinakes.engine.iceberg.scan.unreadable import name_of, reading

FILE, ROW = "$pinakes_file", "$pinakes_row"
"""The position of a row: the number of its file (as given in `files`) and its 0-based row number in the file. The names
cannot occur in a user's table.
"""

ROWS_AT_ONCE = 8192


class IcebergDataset(pds.Dataset):  # type: ignore[misc]  # pyarrow is untyped
    """The rows of one table at the snapshot it was loaded with.

    With `files` (path -> number) only those files are read, and FILE and ROW are added so that a change can identify
    rows; so is the lineage of rows, if the table has it (`lineage.py`). With `tasks` only those files are read, under
    the given schema.
    """

    def __init__(
        self,
        table: IcebergTable,
        zone: str,
        files: Mapping[str, int] | None = None,
        *,
        tasks: Sequence[Task] | None = None,
        schema: pa.Schema | None = None,
        cache: ManifestCache | None = None,
    ) -> None:
        self._table = table
        self._cache = cache or for_once()
        self._files = files
        schema = schema or arrow_schema_of(table.handle.schema(), zone)
        if files is not None:
            lineage = LINEAGE if has_lineage(table.handle.metadata) else ()
            schema = schema.append(pa.field(FILE, pa.int32()))
            schema = pa.schema([*schema, *(pa.field(name, pa.int64()) for name in (ROW, *lineage))])
        self._schema = schema
        # Planned here, because files cannot be planned while DataFusion runs a query, which is when it requests
        # fragments.
        self.tasks = tasks if tasks is not None else _planned(table, files)
        """The data files to read, with their deletes."""

    # Not a Python function: an interrupt of the query that surfaces while DataFusion reads the schema would cause a
    # panic.
    schema = property(attrgetter("_schema"))

    def scanner(self, columns: list[str] | None = None, **_: Any) -> pds.Scanner:
        """Used for its schema during planning only: rows come from the fragments."""
        return pds.InMemoryDataset(self._schema.empty_table()).scanner(columns=columns)

    def get_fragments(self, filter: Any = None) -> Iterator[Fragment]:
        """Returns one fragment per data file, or an empty one if there are none: DataFusion cannot plan a scan of
        nothing.
        """
        return iter([Fragment(self, task) for task in self.tasks] or [Fragment(self, None)])

    def read(self, task: Task, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Reads the live rows of one file: the named columns in the schema that queries see."""
        handle = self._table.handle
        # In the table's column order, which is the order of pyiceberg's result.
        stored = [f.name for f in handle.schema().fields if f.name in columns] or [_cheapest(handle.schema())]
        target = pa.schema([self._schema.field(c) for c in stored])
        lineage = not {*LINEAGE}.isdisjoint(columns)
        with reading(self._table, task.file.file_path):
            for live in self._live(task, stored, lineage=lineage):
                own = conform(live.select(range(len(stored))), target)
                yield from _parts(self._placed(own, live, task))

    def _live(self, task: Task, stored: Sequence[str], *, lineage: bool) -> Iterator[pa.RecordBatch]:
        """Reads the rows that are not deleted, followed by the stored lineage and the row positions."""
        deleted = EqualityDeletes(self._table, self._cache, task.deletes.equality)
        wanted = self._table.handle.schema().select(*stored)
        fields = (with_lineage(wanted) if lineage else wanted).fields
        known = {field.field_id for field in fields}
        more = [f.model_copy(update={"name": f"$pinakes {i}"}) for i, f in deleted.fields.items() if i not in known]
        read = (*fields, *more)
        places = [len(read)] if self._files is not None else []
        for batch in self._not_deleted_by_position(task, Schema(*read)):
            yield deleted.live(batch, read).select([*range(len(fields)), *places])

    def _not_deleted_by_position(self, task: Task, read: Schema) -> Iterator[pa.RecordBatch]:
        handle, path = self._table.handle, task.file.file_path
        deleted = deleted_rows(self._table, self._cache, path, task.deletes.positions) if task.deletes else array("q")
        at = 0
        with readable_file(handle.io, task.file, handle.metadata, read) as (io, file):
            scan = ArrowScan(handle.metadata, io, with_texts(read), AlwaysTrue())
            for batch in scan._record_batches_from_scan_tasks_and_deletes([FileScanTask(file)], {}):
                yield without(self._with_places(batch, at), at, deleted)
                at += batch.num_rows
        if at != task.file.record_count:
            said = task.file.record_count
            raise DataCorrupt(f"table {name_of(self._table)}: {path} has {at} rows; the metadata says {said}")

    def _with_places(self, batch: pa.RecordBatch, at: int) -> pa.RecordBatch:
        if self._files is None:
            return batch
        return batch.append_column(self._schema.field(ROW), counting(at, batch.num_rows))

    def _placed(self, own: pa.RecordBatch, live: pa.RecordBatch, task: Task) -> pa.RecordBatch:
        """Adds the position of each row, and its lineage if that was read."""
        if self._files is None:
            return own
        places = live.column(live.num_columns - 1)
        key_columns = live.select(range(own.num_columns, live.num_columns - 1))
        number = pa.repeat(pa.scalar(self._files[task.file.file_path], pa.int32()), own.num_rows)
        extra = {
            FILE: number,
            ROW: places,
            **(lineage_of(task, places, key_columns) if key_columns.num_columns else {}),
        }
        for name, values in extra.items():
            own = own.append_column(self._schema.field(name), values)
        return own


class Fragment:
    """One data file."""

    def __init__(self, dataset: IcebergDataset, task: Task | None) -> None:
        self._dataset, self._task = dataset, task

    def scanner(
        self, schema: pa.Schema | None = None, columns: list[str] | None = None, filter: Any = None, **_: Any
    ) -> pds.Scanner:
        """Returns a stream of the file's rows; an empty one if DataFusion's filter is constant false."""
        wanted = list(columns) if columns is not None else self._dataset.schema.names
        batches = self._dataset.read(self._task, wanted) if self._task and constant(filter) else iter(())
        first = next(batches, None)
        read = first.schema if first is not None else pa.schema([self._dataset.schema.field(c) for c in wanted])
        return pds.Scanner.from_batches(pa.RecordBatchReader.from_batches(read, _chain(first, batches)), columns=wanted)


def _planned(table: IcebergTable, files: Mapping[str, int] | None) -> list[Task]:
    return [task for task in plan(table) if files is None or task.file.file_path in files]


def _parts(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    """Splits rows into batches as small as those of native scans, so that a query can spill to disk.

    Each batch gets its own memory: for a slice, all memory of its parent would be counted each time.
    """
    if batch.num_rows <= ROWS_AT_ONCE:
        yield batch
        return
    for start in range(0, batch.num_rows, ROWS_AT_ONCE):
        columns = [pa.concat_arrays([column]) for column in batch.slice(start, ROWS_AT_ONCE).columns]
        yield pa.RecordBatch.from_arrays(columns, schema=batch.schema)


def _chain(first: pa.RecordBatch | None, rest: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    if first is not None:
        yield first
    yield from rest


def _cheapest(schema: Schema) -> str:
    """A column to read when only the number of rows matters."""
    small = (BooleanType, IntegerType, LongType, FloatType, DoubleType, DateType)
    return next((f.name for f in schema.fields if isinstance(f.field_type, small)), schema.fields[0].name)
