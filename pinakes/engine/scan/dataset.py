"""An Iceberg table as a lazy Arrow dataset: the plain read path.

DataFusion asks for fragments (one per data file) when a query runs, and for the columns of each; rows it chooses itself
(`exact.py`). Files are read with pyiceberg's own reader, which applies deletes and schema evolution; batches stream.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from operator import attrgetter
from typing import Any

import pyarrow as pa
import pyarrow.dataset as pds
from pyiceberg.expressions import AlwaysTrue
from pyiceberg.io.pyarrow import ArrowScan
from pyiceberg.io.pyarrow import _read_all_delete_files as read_delete_files
from pyiceberg.schema import Schema
from pyiceberg.types import BooleanType, DateType, DoubleType, FloatType, IntegerType, LongType

from pinakes.core.catalog import IcebergTable
from pinakes.core.conform import conform
from pinakes.core.errors import DataCorrupt, PinakesError
from pinakes.core.iceberg_arrow import arrow_schema_of
from pinakes.engine.scan.equality import EqualityDeletes
from pinakes.engine.scan.exact import constant
from pinakes.engine.scan.tasks import Task, plan
from pinakes.providers.foreign_errors import translate_foreign

FILE, ROW = "$pinakes_file", "$pinakes_row"
"""Where a row stands: the number of its file (as given in `files`) and its place among the file's live rows. Names that
no table of a user's has."""


class IcebergDataset(pds.Dataset):  # type: ignore[misc]  # pyarrow is untyped
    """The rows of one table at the snapshot it was loaded with.

    With `files` (path -> number) only those files are read, and FILE and ROW are added, so that a change can
    say which rows of which files it touches. With `tasks` just those files are read, under a schema that is given.
    """

    def __init__(
        self,
        table: IcebergTable,
        zone: str,
        files: Mapping[str, int] | None = None,
        *,
        tasks: Sequence[Task] | None = None,
        schema: pa.Schema | None = None,
    ) -> None:
        self._table = table
        self._files = files
        schema = schema or arrow_schema_of(table.handle.schema(), zone)
        if files is not None:
            schema = schema.append(pa.field(FILE, pa.int32())).append(pa.field(ROW, pa.int64()))
        self._schema = schema
        self._lock = threading.Lock()
        self._tasks = tasks

    # Not a function of Python's: while DataFusion asks for it, no interrupt of a query may surface, for it would panic.
    schema = property(attrgetter("_schema"))

    def scanner(self, columns: list[str] | None = None, **_: Any) -> pds.Scanner:
        """Only asked for its schema while planning: the rows come from the fragments."""
        return pds.InMemoryDataset(self._schema.empty_table()).scanner(columns=columns)

    def get_fragments(self, filter: Any = None) -> Iterator[Fragment]:
        """One per data file; an empty one when there is no file, since DataFusion cannot plan a scan of nothing."""
        return iter([Fragment(self, task) for task in self.tasks()] or [Fragment(self, None)])

    def tasks(self) -> Sequence[Task]:
        """The data files of the snapshot with their deletes; planned once."""
        with self._lock:
            if self._tasks is None:
                self._tasks = [t for t in plan(self._table) if self._files is None or t.file.file_path in self._files]
            return self._tasks

    def read(self, task: Task, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """The live rows of one file: the named columns under the schema that queries see."""
        handle = self._table.handle
        # In the table's order, which is the order that pyiceberg gives them in.
        stored = [f.name for f in handle.schema().fields if f.name in columns] or [_cheapest(handle.schema())]
        target = pa.schema([self._schema.field(c) for c in stored])
        at = 0
        try:
            for batch in self._live(task, stored):
                yield self._placed(conform(batch, target), task, at, columns)
                at += batch.num_rows
        except PinakesError:
            raise
        except Exception as error:
            damaged = DataCorrupt(f"table {self._name}: {task.file.file_path} cannot be read: {error}")
            raise translate_foreign(error, f"table {self._name}") or damaged from error
        if task.is_clean and at != task.file.record_count:
            said = task.file.record_count
            raise DataCorrupt(f"table {self._name}: {task.file.file_path} has {at} rows; the metadata says {said}")

    def _live(self, task: Task, stored: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """The rows of a file that are not deleted."""
        handle = self._table.handle
        gone = EqualityDeletes(handle, task.equality)
        wanted = handle.schema().select(*stored)
        more = [f.model_copy(update={"required": False}) for i, f in gone.fields.items() if i not in wanted.field_ids]
        read = Schema(*wanted.fields, *(f.model_copy(update={"name": f"{f.name} {f.field_id}"}) for f in more))
        places = {f.field_id: place for place, f in enumerate(read.fields)}
        scan = ArrowScan(handle.metadata, handle.io, read, AlwaysTrue())
        deletes = read_delete_files(handle.io, [task])
        for batch in scan._record_batches_from_scan_tasks_and_deletes([task], deletes):
            yield gone.live(batch, places).select(range(len(wanted.fields)))

    def _placed(self, batch: pa.RecordBatch, task: Task, at: int, columns: Sequence[str]) -> pa.RecordBatch:
        if self._files is None or (FILE not in columns and ROW not in columns):
            return batch
        number = pa.repeat(pa.scalar(self._files[task.file.file_path], pa.int32()), batch.num_rows)
        places = pa.array(range(at, at + batch.num_rows), pa.int64())
        return batch.append_column(self._schema.field(FILE), number).append_column(self._schema.field(ROW), places)

    @property
    def _name(self) -> str:
        return ".".join((*self._table.namespace, self._table.name))


class Fragment:
    """One data file."""

    def __init__(self, dataset: IcebergDataset, task: Task | None) -> None:
        self._dataset, self._task = dataset, task

    def scanner(
        self, schema: pa.Schema | None = None, columns: list[str] | None = None, filter: Any = None, **_: Any
    ) -> pds.Scanner:
        """A stream of the file's rows; of none, when DataFusion found that no row can be wanted."""
        wanted = list(columns) if columns is not None else self._dataset.schema.names
        batches = self._dataset.read(self._task, wanted) if self._task and constant(filter) else iter(())
        first = next(batches, None)
        read = first.schema if first is not None else pa.schema([self._dataset.schema.field(c) for c in wanted])
        return pds.Scanner.from_batches(pa.RecordBatchReader.from_batches(read, _chain(first, batches)), columns=wanted)


def _chain(first: pa.RecordBatch | None, rest: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    if first is not None:
        yield first
    yield from rest


def _cheapest(schema: Schema) -> str:
    """A column to read when only the number of rows matters."""
    small = (BooleanType, IntegerType, LongType, FloatType, DoubleType, DateType)
    return next((f.name for f in schema.fields if isinstance(f.field_type, small)), schema.fields[0].name)
