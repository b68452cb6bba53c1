"""Equality deletes: removes rows with the values of a delete file in its columns. NULL equals NULL and NaN equals NaN;
0.0 does not equal -0.0, as in Iceberg's reference implementation.

Each distinct value of a column gets a number, and the numbers of a row form its key, so all work is done by Arrow.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import types as is_
from pyiceberg import types as ice
from pyiceberg.expressions import AlwaysTrue
from pyiceberg.io.pyarrow import ArrowScan
from pyiceberg.manifest import DataFile, DataFileContent, FileFormat
from pyiceberg.schema import Schema, prune_columns
from pyiceberg.table import FileScanTask
from pyiceberg.table.metadata import TableMetadata
from pyiceberg.typedef import Record

from pinakes.caches.files import ManifestCache
from pinakes.core.catalog import IcebergTable
from pinakes.core.errors import NotSupportedError
from pinakes.engine.iceberg.scan.copies import readable_file
from pinakes.engine.iceberg.scan.deletes import DeleteFile
from pinakes.engine.iceberg.scan.locations import remembered_as
from pinakes.engine.iceberg.scan.unreadable import name_of, reading


class EqualityDeletes:
    """The equality deletes that apply to one data file."""

    def __init__(self, table: IcebergTable, cache: ManifestCache, files: Iterable[DeleteFile]) -> None:
        self._table = table
        keys: dict[tuple[int, ...], list[pa.Table]] = {}
        self.fields: dict[int, ice.NestedField] = {}
        """The columns that are needed to apply the deletes, including dropped ones."""
        for file in files:
            with reading(table, file.path):
                schema = _schema_of(table.handle.metadata, file)
                self.fields.update({field.field_id: field for field in schema.fields})
                keys.setdefault(file.equality_ids, []).append(self._keys(cache, file, schema))
        self._sets = [KeySet(ids, pa.concat_tables(tables)) for ids, tables in keys.items()]

    def _keys(self, cache: ManifestCache, file: DeleteFile, schema: Schema) -> pa.Table:
        key = remembered_as(file.path, self._table.handle.io)
        return cache.get("equality", f"{key} {schema}", lambda: self._read(file, schema))

    def _read(self, file: DeleteFile, schema: Schema) -> pa.Table:
        pruned = prune_columns(schema, set(file.equality_ids), select_full_types=False)
        fields = [_optional(field) for field in pruned.fields]
        columns = {str(i): _way(fields, i) for i in file.equality_ids}
        handle = self._table.handle
        with readable_file(handle.io, _data_file(file), handle.metadata, pruned) as (io, data_file):
            scan = ArrowScan(handle.metadata, io, Schema(*fields), AlwaysTrue())
            batches = [
                pa.table({name: _leaf(batch, way) for name, way in columns.items()})
                for batch in scan._record_batches_from_scan_tasks_and_deletes([FileScanTask(data_file)], {})
            ]
        if sum(b.num_rows for b in batches) != file.record_count:
            raise ValueError(f"it has {sum(b.num_rows for b in batches)} rows; the metadata says {file.record_count}")
        return pa.concat_tables(batches) if batches else pa.table({name: pa.nulls(0) for name in columns})

    def live(self, batch: pa.RecordBatch, fields: Sequence[ice.NestedField]) -> pa.RecordBatch:
        """Returns the live rows of a batch with the columns `fields`."""
        for keys in self._sets:
            gone = keys.has([_leaf(batch, self._way(fields, i)) for i in keys.ids])
            batch = batch.filter(pc.invert(gone))
        return batch

    def _way(self, fields: Sequence[ice.NestedField], field_id: int) -> list[int]:
        if way := _way(fields, field_id):
            return way
        name = name_of(self._table)
        raise NotSupportedError(
            f"table {name}: rows are deleted by the field {field_id}, which was dropped of a struct"
        )


class KeySet:
    """A set of rows over some columns."""

    def __init__(self, ids: tuple[int, ...], rows: pa.Table) -> None:
        self.ids = ids
        self._values: list[pa.Array] = []
        self._pairs: list[pa.Array] = []
        code = None
        for column in rows.columns:
            plain = column.combine_chunks()
            self._values.append(plain.unique())
            code = self._joined(code, pc.index_in(plain, self._values[-1], skip_nulls=False))

    def _joined(self, code: pa.Array | None, last: pa.Array) -> pa.Array:
        if code is None:
            return last
        pairs = _pair(code, last)
        self._pairs.append(pairs.unique())
        return pc.index_in(pairs, self._pairs[-1])

    def has(self, columns: Sequence[pa.Array]) -> pa.Array:
        """Returns true for each row that is in the set."""
        code = None
        for number, (column, values) in enumerate(zip(columns, self._values, strict=True)):
            found = pc.index_in(column, values.cast(column.type), skip_nulls=False)
            code = found if code is None else pc.index_in(_pair(code, found), self._pairs[number - 1], skip_nulls=True)
        return pc.is_valid(code)


def _pair(code: pa.Array, last: pa.Array) -> pa.Array:
    """Combines two 32-bit numbers into one; NULL if either is NULL."""
    return pc.bit_wise_or(pc.shift_left(code.cast(pa.int64()), 32), last.cast(pa.int64()))


# --- columns -----------------------------------------------------------------------------------------------------


def _schema_of(metadata: TableMetadata, file: DeleteFile) -> Schema:
    """Returns the columns of the table that a delete file refers to, in their latest form."""
    if not file.equality_ids:
        raise ValueError("it deletes by equality and names no columns")
    found = {field.field_id: field for field in (_top(metadata, i) for i in file.equality_ids)}
    return Schema(*(_optional(field) for field in found.values()))


def _top(metadata: TableMetadata, field_id: int) -> ice.NestedField:
    schemas = [metadata.schema(), *sorted(metadata.schemas, key=lambda s: -s.schema_id)]
    for field in (f for s in schemas for f in s.fields):
        if field.field_id == field_id or (isinstance(field.field_type, ice.StructType) and _way([field], field_id)):
            return field
    raise NotSupportedError(
        f"an equality delete file refers to field {field_id}, which is neither a column nor a field of a struct"
    )


def _way(fields: Sequence[ice.NestedField], field_id: int) -> list[int]:
    """Returns the path to a field: its index among the columns, then within each struct; empty if it is not found."""
    for place, field in enumerate(fields):
        if field.field_id == field_id:
            return [place]
        if isinstance(field.field_type, ice.StructType) and (rest := _way(field.field_type.fields, field_id)):
            return [place, *rest]
    return []


def _leaf(batch: pa.RecordBatch, way: Sequence[int]) -> pa.Array:
    column = batch.column(way[0])
    return _comparable(pc.struct_field(column, list(way[1:])) if way[1:] else column)


def _comparable(column: pa.Array) -> pa.Array:
    """Returns floating-point numbers as bits, with one form of NaN, and UUIDs as bytes."""
    if isinstance(column, pa.ExtensionArray):
        return column.storage
    if is_.is_floating(column.type):
        one = pc.if_else(pc.is_nan(column), pa.scalar(float("nan"), column.type), column)
        return one.view(pa.int64() if column.type == pa.float64() else pa.int32())
    return column


def _optional(field: ice.NestedField) -> ice.NestedField:
    return field.model_copy(update={"required": False})


def _data_file(file: DeleteFile) -> DataFile:
    """Returns the delete file as a pyiceberg data file."""
    found = DataFile.from_args(
        content=DataFileContent.EQUALITY_DELETES,
        file_path=file.path,
        file_format=FileFormat(file.format),
        partition=Record(),
        record_count=file.record_count,
        file_size_in_bytes=file.size,
    )
    found.spec_id = file.partition[0]
    return found
