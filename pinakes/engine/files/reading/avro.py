"""Avro files, read as a whole by DataFusion (`engine/datafusion/avro.py`). A small file can have rows that take more
memory than there is: a server reads them for administrators only.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa

from pinakes.core.arrays.conform import uuid_text
from pinakes.core.errors import DataCorrupt, NotSupportedError, PinakesError
from pinakes.engine.datafusion.avro import RENAMED, read_content_aside, schema_of
from pinakes.engine.datafusion.error_translation import is_panic
from pinakes.engine.files.paths import File
from pinakes.engine.files.reading.dataset import FilesSource, stream_files
from pinakes.engine.files.reading.options import AvroOptions
from pinakes.engine.files.reading.path_columns import PathColumns
from pinakes.engine.files.reading.schemas import check_names, present_schema, unite_schemas
from pinakes.engine.files.reading.streams import read_errors, refuse_hostile
from pinakes.providers.iceberg.checked_avro import MOST_UNPACKED


def open_avro(files: Sequence[File], options: AvroOptions, zone: str) -> FilesSource:
    refuse_hostile(files, "Avro files are")
    tables = {file: _read(file) for file in files}
    schemas = [(file, present_schema(table.schema, zone)) for file, table in tables.items()]
    whole = unite_schemas(schemas, by_name=options.union_by_name)

    def read(file: File, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        names = tables[file].schema.names
        yield from tables[file].select([n for n in names if n in columns] or names[:1]).to_batches()

    return stream_files(files, whole, PathColumns(files, options), read)


def _read(file: File) -> pa.Table:
    with read_errors(file), file.open() as opened:
        content = bytes(opened.read(MOST_UNPACKED + 1))
    try:
        table, _ = read_content_aside(content, str(file.local) if file.is_local else None)
    except PinakesError:
        raise
    except BaseException as error:
        if not isinstance(error, Exception) and not is_panic(error):
            raise
        said = (str(error).splitlines() or [type(error).__name__])[0]
        raise DataCorrupt(f"{file} is not a readable Avro file: {said[:200]}") from None
    fields = schema_of(content)["fields"]
    if len(fields) != table.num_columns:
        raise NotSupportedError(f"{file} has columns of records without fields, which can't be read")
    columns = [_column(file, field, column) for field, column in zip(fields, table.columns, strict=True)]
    found = pa.table(columns, names=[field["name"] for field in fields])
    check_names(found.schema, file)
    return found


def _column(file: File, field: Any, column: pa.ChunkedArray) -> pa.ChunkedArray:
    if _is_uuid(field["type"]):
        return pa.chunked_array([uuid_text(chunk) for chunk in column.chunks], pa.string())
    if "'logicalType': 'uuid'" in str(field["type"]):
        raise NotSupportedError(f"{file}, column {field['name']!r} has uuids within it, which can't be read")
    if RENAMED in str(column.type):
        raise NotSupportedError(f"{file}, column {field['name']!r} has fields with odd names, which can't be read")
    return column


def _is_uuid(kind: Any) -> bool:
    if isinstance(kind, list):
        return any(_is_uuid(k) for k in kind)
    return isinstance(kind, dict) and (kind.get("logicalType") == "uuid" or _is_uuid(kind["type"]))
