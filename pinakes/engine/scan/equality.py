"""Deletes by equality: rows are gone that have the values of a delete file in its columns. NULL equals NULL here, and
NaN equals NaN."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import pyarrow as pa
from pyiceberg.expressions import AlwaysTrue
from pyiceberg.io.pyarrow import ArrowScan
from pyiceberg.manifest import DataFile
from pyiceberg.schema import Schema
from pyiceberg.table import FileScanTask
from pyiceberg.table import Table as PyIcebergTable
from pyiceberg.types import NestedField

Key = tuple[Any, ...]


class EqualityDeletes:
    """Those that apply to one data file."""

    def __init__(self, table: PyIcebergTable, files: Iterable[DataFile]) -> None:
        self._gone: dict[tuple[int, ...], set[Key]] = {}
        self.fields: dict[int, NestedField] = {}
        """The columns that must be read to tell, by their ids; the table may have dropped them since."""
        for file in files:
            ids = tuple(sorted(file.equality_ids or ()))
            if not ids:
                raise ValueError(f"{file.file_path} deletes by equality and names no columns")
            self.fields.update({i: _field(table, i) for i in ids})
            self._gone.setdefault(ids, set()).update(self._keys(table, file, ids))

    def _keys(self, table: PyIcebergTable, file: DataFile, ids: tuple[int, ...]) -> Iterator[Key]:
        schema = Schema(*(self.fields[i].model_copy(update={"required": False}) for i in ids))
        scan = ArrowScan(table.metadata, table.io, schema, AlwaysTrue())
        for batch in scan._record_batches_from_scan_tasks_and_deletes([FileScanTask(file)], {}):
            yield from _rows(batch.columns)

    def live(self, batch: pa.RecordBatch, places: dict[int, int]) -> pa.RecordBatch:
        """The rows of a batch that are left; `places` tells in which column each field stands."""
        for ids, gone in self._gone.items():
            keys = _rows([batch.column(places[i]) for i in ids])
            batch = batch.filter(pa.array([key not in gone for key in keys], pa.bool_()))
        return batch


def _rows(columns: list[pa.Array]) -> list[Key]:
    return list(zip(*([_comparable(v) for v in column.to_pylist()] for column in columns), strict=True))


def _comparable(value: Any) -> Any:
    return "NaN" if isinstance(value, float) and value != value else value


def _field(table: PyIcebergTable, field_id: int) -> NestedField:
    schemas = [table.schema(), *sorted(table.metadata.schemas, key=lambda s: -s.schema_id)]
    found = next((f for s in schemas for f in s.fields if f.field_id == field_id), None)
    if found is None:
        raise ValueError(f"rows are deleted by the field {field_id}, which no schema has at its top")
    return found
