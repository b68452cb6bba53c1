"""Parquet: native scans of DataFusion's, which reads only the columns, row groups and pages that a query needs.

Where the least and the greatest number of a column are one, DataFusion gives that number for the whole column, and
overlooks NaN: statements that read such a file are planned without statistics.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import pyarrow as pa
import pyarrow.parquet as pq
from datafusion import DataFrame, Expr, col, lit
from pyarrow import types as is_

from pinakes.core.errors import DataCorrupt, NotSupportedError, PinakesError, QueryCanceled, QueryTimeout
from pinakes.core.names import quote
from pinakes.engine.errors import translated
from pinakes.engine.files.extras import Extras
from pinakes.engine.files.formats import reading
from pinakes.engine.files.native import native_scan
from pinakes.engine.files.opened import Opened
from pinakes.engine.files.options import ParquetOptions
from pinakes.engine.files.paths import File
from pinakes.engine.files.schemas import check_names, presented, united
from pinakes.engine.scan.native import union, unskipped, uuid_as_text

_UUID = pa.binary(16)
_VIEWS = {pa.string(): pa.string_view(), pa.binary(): pa.binary_view()}
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
"""What DataFusion takes in no path."""
_FLOATING = ("FLOAT", "DOUBLE")


def open_parquet(files: Sequence[File], options: ParquetOptions, zone: str) -> Opened:
    footers = {file: _footer(file) for file in files}
    schemas = {file: _schema(file, footer) for file, footer in footers.items()}
    uuids = {field.name for schema in schemas.values() for field in schema if isinstance(field.type, pa.UuidType)}
    stored = united(
        ((file, presented(_as_bytes(s), zone)) for file, s in schemas.items()), by_name=options.union_by_name
    )
    extras = Extras(files, options)
    whole = extras.added_to(stored)
    scanned = pa.schema([field for field in stored if field.name not in extras.schema.names])
    frames = [_scan(group, scanned, uuids, extras) for group in extras.groups().values()]
    shown = [field.with_type(pa.string()) if field.name in uuids and field.type == _UUID else field for field in whole]
    statistics = not any(_may_hide_nan(footer) for footer in footers.values())
    return Opened(pa.schema(shown), union(frames).into_view(), statistics)


def _footer(file: File) -> pq.FileMetaData:
    if _CONTROL.search(str(file.real)):
        raise NotSupportedError(f"{file} can not be read: its path has a line break, a tab or the like. Rename it.")
    with reading(file):
        try:
            return pq.read_metadata(str(file.real))
        except (PinakesError, PermissionError, FileNotFoundError):
            raise
        except (OSError, pa.ArrowException) as error:
            size = file.real.stat().st_size
            why = "it is empty" if size == 0 else str(error).splitlines()[0][:200]
            raise DataCorrupt(f"{file} is no Parquet file that can be read: {why}") from error


def _schema(file: File, footer: pq.FileMetaData) -> pa.Schema:
    with reading(file):
        schema = footer.schema.to_arrow_schema()
    check_names(schema, file)
    return schema.remove_metadata()


def _may_hide_nan(footer: pq.FileMetaData) -> bool:
    """Whether a floating column has one value in its statistics, beside which there may be NaN."""
    columns = (footer.schema.column(i) for i in range(footer.num_columns))
    floating = [i for i, c in enumerate(columns) if c.physical_type in _FLOATING or c.logical_type.type == "FLOAT16"]
    return any(_has_one_value(footer, column) for column in floating)


def _has_one_value(footer: pq.FileMetaData, column: int) -> bool:
    seen: set[object] = set()
    for number in range(footer.num_row_groups):
        found = footer.row_group(number).column(column).statistics
        if found is None or not found.has_min_max:
            return False
        seen |= {found.min, found.max}
        if len(seen) > 1:
            return False
    return bool(seen)


def is_broken(file: File, check: Callable[[], None]) -> bool:
    """Whether it can't be read to its end; `check` raises when the statement was stopped."""
    try:
        with translated():
            for _ in native_scan([file.real], _as_bytes(_schema(file, _footer(file)))).execute_stream():
                check()
    except (QueryCanceled, QueryTimeout):
        raise
    except PinakesError:
        return True
    return False


def _as_bytes(schema: pa.Schema) -> pa.Schema:
    """A uuid is 16 bytes in the file; it becomes text above the scan."""
    return pa.schema([f.with_type(_UUID) if isinstance(f.type, pa.UuidType) else f for f in schema])


def _scan(files: Sequence[File], schema: pa.Schema, uuids: set[str], extras: Extras) -> DataFrame:
    """One scan of DataFusion's; and one of Arrow's, of the files whose NaN would get lost in the other."""
    added = zip(extras.schema, extras.of(files[0]), strict=True)
    columns = [_column(field, uuids) for field in schema]
    columns += [lit(value).alias(field.name) for field, value in added]
    return native_scan([file.real for file in files], _with_views(schema)).select(*columns)


def _with_views(schema: pa.Schema) -> pa.Schema:
    """Texts as DataFusion reads them fastest; what leaves it is a plain text again (`engine/schemas.py`)."""
    return pa.schema([f.with_type(_VIEWS.get(f.type, f.type)) for f in schema])


def _column(field: pa.Field, uuids: set[str]) -> Expr:
    column = col(quote(field.name))
    if field.name in uuids and field.type == _UUID:
        return uuid_as_text()(column).alias(field.name)
    if is_.is_floating(field.type):
        return unskipped(column).alias(field.name)
    return column
