"""Parquet: native DataFusion scans, which read only the columns, row groups and pages that a query needs. A server
checks the headers of pages first (`page_check.py`).

If minimum and maximum in a column's statistics are equal, DataFusion uses that value for the entire column. Statements
that read a file in which this is wrong are planned without statistics
(`engine/datafusion/workarounds/bad_statistics.py`).

Files of object stores are read by Arrow, the requested columns of one row group at a time. DataFusion's own scans would
need the keys in a registry by bucket that all statements of a session share: two secrets for two parts of one bucket,
or one that is replaced while a statement runs, would be mixed up (ADR 0009).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from datafusion import DataFrame, Expr, SessionContext, col, lit

from pinakes.core.errors import DataCorrupt, NotSupportedError, PinakesError, QueryCanceled, QueryTimeout
from pinakes.core.names import quote
from pinakes.core.parquet_footer import read_footer
from pinakes.engine.datafusion.error_translation import translated
from pinakes.engine.datafusion.parquet_scan import scan_of, union, usual_nan, uuid_as_text
from pinakes.engine.datafusion.workarounds.bad_statistics import may_mislead
from pinakes.engine.files.object_stores.stores import call_parallel
from pinakes.engine.files.paths import File
from pinakes.engine.files.reading.dataset import FilesSource, stream_files
from pinakes.engine.files.reading.options import ParquetOptions
from pinakes.engine.files.reading.page_check import is_safe
from pinakes.engine.files.reading.path_columns import PathColumns
from pinakes.engine.files.reading.schemas import check_names, present_schema, unite_schemas
from pinakes.engine.files.reading.streams import error_of_store, read_errors

_UUID = pa.binary(16)
_VIEWS = {pa.string(): pa.string_view(), pa.binary(): pa.binary_view()}
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
"""Characters that DataFusion does not accept in a path."""


def open_parquet(files: Sequence[File], options: ParquetOptions, zone: str) -> FilesSource:
    if not all(file.is_local and _is_native(file) for file in files):
        return _open_streamed(files, options, zone)
    footers = {file: _footer(file) for file in files}
    schemas = {file: file_schema(file, footer) for file, footer in footers.items()}
    uuids = {field.name for schema in schemas.values() for field in schema if isinstance(field.type, pa.UuidType)}
    stored = unite_schemas(
        ((file, present_schema(_as_bytes(s), zone)) for file, s in schemas.items()), by_name=options.union_by_name
    )
    path_columns = PathColumns(files, options)
    whole = path_columns.add_to_schema(stored)
    scanned = pa.schema([field for field in stored if field.name not in path_columns.schema.names])
    frames = [_scan(group, scanned, uuids, path_columns) for group in path_columns.groups().values()]
    shown = [field.with_type(pa.string()) if field.name in uuids and field.type == _UUID else field for field in whole]
    statistics = not any(may_mislead(footer) for footer in footers.values())
    return FilesSource(pa.schema(shown), union(frames).into_view(), statistics)


def _footer(file: File) -> pq.FileMetaData:
    if _CONTROL.search(str(file.real)):
        raise NotSupportedError(f"{file} can not be read: its path has a line break, a tab or the like. Rename it.")
    return footer_of(file)


def _is_native(file: File) -> bool:
    """Returns whether DataFusion can read a local file; raises DataCorrupt if it would take too much memory."""
    with _footer_errors(file):
        return not file.is_foreign or is_safe(file.local)


def is_broken(file: File, check: Callable[[], None]) -> bool:
    """Returns whether a file cannot be read to its end; `check` raises if the statement was cancelled."""
    try:
        with translated():
            for _ in _native_scan([file.local], _as_bytes(file_schema(file, _footer(file)))).execute_stream():
                check()
    except (QueryCanceled, QueryTimeout):
        raise
    except PinakesError:
        return True
    return False


def _as_bytes(schema: pa.Schema) -> pa.Schema:
    """Returns the schema with UUIDs as 16 bytes, as in the file; they become text above the scan."""
    return pa.schema([f.with_type(_UUID) if isinstance(f.type, pa.UuidType) else f for f in schema])


def _scan(files: Sequence[File], schema: pa.Schema, uuids: set[str], path_columns: PathColumns) -> DataFrame:
    added = zip(path_columns.schema, path_columns.of(files[0]), strict=True)
    columns = [_column(field, uuids) for field in schema]
    columns += [lit(value).alias(field.name) for field, value in added]
    return _native_scan([file.local for file in files], _with_views(schema)).select(*columns)


def _with_views(schema: pa.Schema) -> pa.Schema:
    """Texts as DataFusion reads them fastest; what leaves it is a plain text again
    (`engine/datafusion/plan_schema.py`)."""
    return pa.schema([f.with_type(_VIEWS.get(f.type, f.type)) for f in schema])


def _column(field: pa.Field, uuids: set[str]) -> Expr:
    column = col(quote(field.name))
    if field.name in uuids and field.type == _UUID:
        return uuid_as_text()(column).alias(field.name)
    found = usual_nan(column, field.type)
    return column if found is column else found.alias(field.name)


def _native_scan(files: Sequence[Path], schema: pa.Schema) -> DataFrame:
    """Returns a scan of these files with the given schema; columns that a file lacks are NULL."""
    return scan_of(_planning_context(), (file.as_uri() for file in files), schema)


@cache
def _planning_context() -> SessionContext:
    """Returns a context for creating plans; any context works."""
    return SessionContext()


# --- footers -----------------------------------------------------------------------------------------------------


def footer_of(file: File) -> pq.FileMetaData:
    """Reads the footer; raises DataCorrupt if it cannot be read."""
    with _footer_errors(file), file.open() as source:
        return read_footer(source)


@contextmanager
def _footer_errors(file: File) -> Iterator[None]:
    with read_errors(file):
        try:
            yield
        except (PinakesError, PermissionError, FileNotFoundError):
            raise
        except (OSError, ValueError, pa.ArrowException) as error:
            if (said := error_of_store(error, file)) is not None:
                raise said from error
            why = "it is empty" if file.stamp.size == 0 else str(error).splitlines()[0][:200]
            raise DataCorrupt(f"{file} is not a readable Parquet file: {why}") from error


def file_schema(file: File, footer: pq.FileMetaData) -> pa.Schema:
    with read_errors(file):
        schema = footer.schema.to_arrow_schema()
    check_names(schema, file)
    return schema.remove_metadata()


# --- object stores -----------------------------------------------------------------------------------------------


_BATCH_ROWS = 32_768


def _open_streamed(files: Sequence[File], options: ParquetOptions, zone: str) -> FilesSource:
    footers = dict(zip(files, call_parallel(footer_of, files), strict=True))
    schemas = [(file, present_schema(file_schema(file, footer), zone)) for file, footer in footers.items()]
    whole = unite_schemas(schemas, by_name=options.union_by_name)

    def rows(file: File, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        return _read_rows(file, footers[file], columns)

    return stream_files(files, whole, PathColumns(files, options), rows)


def _read_rows(file: File, footer: pq.FileMetaData, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
    """Yields the rows. If the file has none of the columns, yields batches with the row count only."""
    with file.open() as source:
        opened = pq.ParquetFile(source, metadata=footer, pre_buffer=True)
        for group in range(opened.num_row_groups):
            yield from opened.iter_batches(_BATCH_ROWS, [group], list(columns))
