"""Parquet: native DataFusion scans, which read only the columns, row groups and pages that a query needs.

If minimum and maximum in a column's statistics are equal, DataFusion uses that value for the entire column. Statements
that read a file in which this is wrong are planned without statistics (`bad_statistics.py`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import pyarrow as pa
import pyarrow.parquet as pq
from datafusion import DataFrame, Expr, col, lit

from pinakes.core.errors import NotSupportedError, PinakesError, QueryCanceled, QueryTimeout
from pinakes.core.names import quote
from pinakes.engine.datafusion.error_translation import translated
from pinakes.engine.datafusion.parquet_scan import union, usual_nan, uuid_as_text
from pinakes.engine.datafusion.workarounds.bad_statistics import may_mislead
from pinakes.engine.files.extras import Extras
from pinakes.engine.files.native import native_scan
from pinakes.engine.files.opened import Opened
from pinakes.engine.files.options import ParquetOptions
from pinakes.engine.files.parquet_footers import file_schema, footer_of
from pinakes.engine.files.paths import File
from pinakes.engine.files.schemas import presented, united

_UUID = pa.binary(16)
_VIEWS = {pa.string(): pa.string_view(), pa.binary(): pa.binary_view()}
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
"""Characters that DataFusion does not accept in a path."""


def open_parquet(files: Sequence[File], options: ParquetOptions, zone: str) -> Opened:
    if not all(file.is_local for file in files):
        from pinakes.engine.files.parquet_streams import open_streamed

        return open_streamed(files, options, zone)
    footers = {file: _footer(file) for file in files}
    schemas = {file: file_schema(file, footer) for file, footer in footers.items()}
    uuids = {field.name for schema in schemas.values() for field in schema if isinstance(field.type, pa.UuidType)}
    stored = united(
        ((file, presented(_as_bytes(s), zone)) for file, s in schemas.items()), by_name=options.union_by_name
    )
    extras = Extras(files, options)
    whole = extras.added_to(stored)
    scanned = pa.schema([field for field in stored if field.name not in extras.schema.names])
    frames = [_scan(group, scanned, uuids, extras) for group in extras.groups().values()]
    shown = [field.with_type(pa.string()) if field.name in uuids and field.type == _UUID else field for field in whole]
    statistics = not any(may_mislead(footer) for footer in footers.values())
    return Opened(pa.schema(shown), union(frames).into_view(), statistics)


def _footer(file: File) -> pq.FileMetaData:
    if _CONTROL.search(str(file.real)):
        raise NotSupportedError(f"{file} can not be read: its path has a line break, a tab or the like. Rename it.")
    return footer_of(file)


def is_broken(file: File, check: Callable[[], None]) -> bool:
    """Returns whether a file cannot be read to its end; `check` raises if the statement was cancelled."""
    try:
        with translated():
            for _ in native_scan([file.local], _as_bytes(file_schema(file, _footer(file)))).execute_stream():
                check()
    except (QueryCanceled, QueryTimeout):
        raise
    except PinakesError:
        return True
    return False


def _as_bytes(schema: pa.Schema) -> pa.Schema:
    """Returns the schema with UUIDs as 16 bytes, as in the file; they become text above the scan."""
    return pa.schema([f.with_type(_UUID) if isinstance(f.type, pa.UuidType) else f for f in schema])


def _scan(files: Sequence[File], schema: pa.Schema, uuids: set[str], extras: Extras) -> DataFrame:
    added = zip(extras.schema, extras.of(files[0]), strict=True)
    columns = [_column(field, uuids) for field in schema]
    columns += [lit(value).alias(field.name) for field, value in added]
    return native_scan([file.local for file in files], _with_views(schema)).select(*columns)


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
