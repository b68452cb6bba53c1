"""Parquet: native scans of DataFusion's, which reads only the columns, row groups and pages that a query needs."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.parquet as pq
from datafusion import DataFrame, Expr, col, lit
from pyarrow import types as is_

from pinakes.core.errors import DataCorrupt, PinakesError
from pinakes.core.names import quote
from pinakes.engine.files.extras import Extras
from pinakes.engine.files.formats import reading
from pinakes.engine.files.native import arrow_scan, native_scan
from pinakes.engine.files.one_valued import is_one_valued
from pinakes.engine.files.opened import Opened
from pinakes.engine.files.options import ParquetOptions
from pinakes.engine.files.paths import File
from pinakes.engine.files.schemas import check_names, presented, united
from pinakes.engine.scan.native import union, unskipped, uuid_as_text

_UUID = pa.binary(16)


def open_parquet(files: Sequence[File], options: ParquetOptions, zone: str) -> Opened:
    schemas = {file: _schema(file) for file in files}
    uuids = {field.name for schema in schemas.values() for field in schema if isinstance(field.type, pa.UuidType)}
    stored = united(
        ((file, presented(_as_bytes(s), zone)) for file, s in schemas.items()), by_name=options.union_by_name
    )
    extras = Extras(files, options)
    whole = extras.added_to(stored)
    scanned = pa.schema([field for field in stored if field.name not in extras.schema.names])
    frames = [f for group in extras.groups().values() for f in _scans(group, scanned, uuids, extras)]
    shown = [field.with_type(pa.string()) if field.name in uuids and field.type == _UUID else field for field in whole]
    return Opened(pa.schema(shown), union(frames).into_view())


def _schema(file: File) -> pa.Schema:
    with reading(file):
        try:
            schema = pq.read_schema(str(file.real))
        except (PinakesError, PermissionError, FileNotFoundError):
            raise
        except (OSError, pa.ArrowException) as error:
            size = file.real.stat().st_size
            why = "it is empty" if size == 0 else str(error).splitlines()[0][:200]
            raise DataCorrupt(f"{file} is no Parquet file that can be read: {why}") from error
    check_names(schema, file)
    return schema.remove_metadata()


def _as_bytes(schema: pa.Schema) -> pa.Schema:
    """A uuid is 16 bytes in the file; it becomes text above the scan."""
    return pa.schema([f.with_type(_UUID) if isinstance(f.type, pa.UuidType) else f for f in schema])


def _scans(files: Sequence[File], schema: pa.Schema, uuids: set[str], extras: Extras) -> list[DataFrame]:
    """One scan of DataFusion's; and one of Arrow's, of the files whose NaN would get lost in the other."""
    added = zip(extras.schema, extras.of(files[0]), strict=True)
    columns = [_column(field, uuids) for field in schema]
    columns += [lit(value).alias(field.name) for field, value in added]
    floating = [field.name for field in schema if is_.is_floating(field.type)]
    odd = [file.real for file in files if is_one_valued(file.real, floating)]
    plain = [file.real for file in files if file.real not in odd]
    found = [native_scan(plain, schema)] * bool(plain) + [arrow_scan(odd, schema)] * bool(odd)
    return [scan.select(*columns) for scan in found]


def _column(field: pa.Field, uuids: set[str]) -> Expr:
    column = col(quote(field.name))
    if field.name in uuids and field.type == _UUID:
        return uuid_as_text()(column).alias(field.name)
    if is_.is_floating(field.type):
        return unskipped(column).alias(field.name)
    return column
