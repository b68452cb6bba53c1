"""COPY [INTO] table [(columns)] FROM 'path' [(FORMAT …, …)]: files are read as read_csv and its kin do, and added at
once. With INTO, files that were loaded so before are left out, unless FORCE is given (`write/loaded.py`).

The columns of a CSV file are taken by position and read as the table's types, so that '007' stays what it is in a
VARCHAR. Those of Parquet, JSON and Arrow, which have names, are taken by name; what the file lacks gets its default.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import pyarrow as pa
from pyiceberg.schema import Schema
from pyiceberg.types import BinaryType, FixedType, StringType

from pinakes.core.errors import ColumnNotFound, InvalidArgument, TableNotFound, listing
from pinakes.core.iceberg_arrow import arrow_type_of
from pinakes.core.names import Part, match, quote, spell, text_literal
from pinakes.core.values import truth
from pinakes.engine.binding.binder import FILES
from pinakes.engine.binding.namespaces import Found
from pinakes.engine.binding.relation import Relation
from pinakes.engine.files.formats import FORMATS, format_of_all
from pinakes.engine.files.opened import Opened
from pinakes.engine.files.options import file_options
from pinakes.engine.files.paths import File
from pinakes.engine.files.tables import opened
from pinakes.engine.iceberg.write.append import append
from pinakes.engine.iceberg.write.assignments import target_columns
from pinakes.engine.iceberg.write.commit import again
from pinakes.engine.iceberg.write.load import load
from pinakes.engine.iceberg.write.loaded import Loaded
from pinakes.engine.iceberg.write.shape import hexadecimal, positions, shaped
from pinakes.engine.result import Result
from pinakes.engine.statement_context import Execution
from pinakes.parser.statements import CopyFrom, Query

_WHAT = "COPY … FROM"
_ALIASES = {"PARQUET": "parquet", "CSV": "csv", "TSV": "csv", "JSON": "json", "JSONL": "json", "NDJSON": "json"}
_FORMATS = {**_ALIASES, "ARROW": "arrow", "FEATHER": "arrow", "IPC": "arrow"}

REPORT = pa.schema([(name, pa.int64()) for name in ("files_loaded", "files_skipped", "rows_loaded")])
"""What COPY INTO tells."""


def copy_from(statement: CopyFrom, execution: Execution) -> Result:
    found = _target(statement, execution)
    if statement.into:
        return again(lambda: _copy_into(statement, execution), found)
    return Result.done("COPY", again(lambda: _copy(statement, execution), found))


def _target(statement: CopyFrom, execution: Execution) -> Found:
    try:
        return execution.resolver.find(statement.table, kind="TABLE")
    except TableNotFound as error:
        path = text_literal(statement.path)
        raise TableNotFound(
            f"{error.message} To make it from the file: CREATE TABLE {statement.table} AS SELECT * FROM {path}"
        ) from error


@dataclass(frozen=True, slots=True)
class _Asked:
    """What is to be read, and how."""

    files: list[File]
    format: str
    options: dict[str, Any]


def _asked(statement: CopyFrom, execution: Execution) -> _Asked:
    options: dict[str, Any] = {option.key.lower(): option.value for option in statement.options}
    format = _format(options.pop("format", None))
    files = execution.query.interruptible(lambda: execution.finder().files([statement.path], format))
    return _Asked(files, format or format_of_all(files), options)


def _copy(statement: CopyFrom, execution: Execution) -> int:
    found, table = execution.resolver.table(statement.table)
    execution.query.touch(found.place.mount.name)
    asked = _asked(statement, execution)
    if "force" in asked.options:
        raise InvalidArgument(f"{_WHAT} takes no option FORCE: it loads every file each time. COPY INTO remembers.")
    return append(table, found, _rows(statement, execution, table.handle.schema(), asked), execution.query.check)


def _copy_into(statement: CopyFrom, execution: Execution) -> Result:
    found, table = execution.resolver.table(statement.table)
    execution.query.touch(found.place.mount.name)
    asked = _asked(statement, execution)
    loaded = Loaded(table.handle.properties)
    force = _truth(asked.options.pop("force", False))
    new = [file for file in asked.files if force or file not in loaded]
    skipped = len(asked.files) - len(new)
    execution.files[:] = [file for file in execution.files if file in new]  # what is not read may change
    if not new:
        return _report(0, skipped, 0)
    loaded.check_room(new)
    rows = _rows(statement, execution, table.handle.schema(), replace(asked, files=new))
    return _report(len(new), skipped, load(table, found, rows, execution.query.check, partial(loaded.remember, new)))


def _report(loaded: int, skipped: int, rows: int) -> Result:
    result = Result.rows(REPORT, [(loaded, skipped, rows)])
    result.count = rows
    return result


def _truth(given: Any) -> bool:
    try:
        return truth(given)
    except ValueError as error:
        raise InvalidArgument(f"FORCE of COPY INTO must be {error}, not {given}") from error


def _rows(statement: CopyFrom, execution: Execution, schema: Schema, asked: _Asked) -> Iterator[pa.RecordBatch]:
    zone = execution.session.settings.time_zone
    files, format, options = asked.files, asked.format, asked.options
    names = [f.name for f in schema.fields]
    columns = target_columns(statement.columns, names) if statement.columns else names
    if format == "csv":
        source = execution.query.interruptible(lambda: _csv(files, options, columns, schema, zone))
    else:
        source = execution.query.interruptible(
            lambda: (
                _json(files, options, schema, zone) if format == "json" else opened(files, format, options, zone, _WHAT)
            )
        )
        columns = _by_name(source.schema.names, columns, files, listed=bool(statement.columns))
    return _planned(source, columns, schema, execution, as_text=format == "json")


def _planned(
    source: Opened, columns: Sequence[str], schema: Schema, execution: Execution, *, as_text: bool
) -> Iterator[pa.RecordBatch]:
    """The rows in the table's shape; `columns` has the table's column for each that is taken from the files, where
    bytes may stand as text."""
    planner = execution.planner()
    execution.statistics &= source.statistics
    key = (FILES, FILES, "copied")
    relation = planner.add(Relation(key, source.provider, tuple(source.schema.names)))
    taken = [name for name in source.schema.names if match(Part(name), columns, "column")]
    read = pa.schema([source.schema.field(name) for name in taken])
    aliases = ", ".join(f'"c{i}"' for i in range(len(taken)))
    listed = ", ".join(quote(name) for name in taken)
    zone = execution.session.settings.time_zone
    sources = positions(columns, read)
    if as_text:
        sources = {name: _decoded(sql, t, schema, name) for name, (sql, t) in sources.items()}
    select = shaped(schema, sources, zone)
    text = f'SELECT {select} FROM (SELECT {listed} FROM {relation.sql}) AS "src"({aliases})'
    return execution.batches(planner.plan(text, Query(text=text, shown=_WHAT)))


def _decoded(sql: str, source: pa.DataType, schema: Schema, column: str) -> tuple[str, pa.DataType]:
    r"""A text for a column of bytes: what starts with `\x` has two digits for each, as in CSV (`files/texts.py`)."""
    if not (pa.types.is_string(source) and isinstance(schema.find_field(column).field_type, BinaryType | FixedType)):
        return sql, source
    return hexadecimal(sql), pa.binary()


def _csv(files: list[File], options: dict[str, Any], columns: Sequence[str], schema: Schema, zone: str) -> Opened:
    from pinakes.engine.files.csv_tables import open_with
    from pinakes.engine.files.texts import Forms

    refused = next((key for key in ("columns", "types", "names", "all_varchar", "filename") if key in options), None)
    if refused is not None:
        raise InvalidArgument(f"{_WHAT} takes no option {refused.upper()}: names and types are the table's")
    parsed = replace(file_options("csv", options, _WHAT), hive_partitioning=False)
    forms = Forms(parsed.dateformat, parsed.timestampformat, zone)
    types = {name: arrow_type_of(schema.find_field(name).field_type, zone) for name in columns}
    return open_with(files, parsed, forms, types)


def _json(files: list[File], options: dict[str, Any], schema: Schema, zone: str) -> Opened:
    """What looks like a date stays as it is written where the table has a text."""
    from pinakes.engine.files.json import open_json

    texts = {f.name.casefold() for f in schema.fields if isinstance(f.field_type, StringType)}
    return open_json(files, file_options("json", options, _WHAT), zone, _WHAT, texts)


def _by_name(found: Sequence[str], columns: Sequence[str], files: Sequence[File], *, listed: bool) -> list[str]:
    """The table's column for each column that is taken from the files, in the files' order."""
    by_name = {name: match(Part(name), columns, "column") for name in found}
    unknown = [name for name, column in by_name.items() if column is None]
    if unknown and not listed:
        raise ColumnNotFound(
            f"{files[0]} has columns that the table lacks: {listing(unknown)}. Say which to copy: "
            f"COPY t ({', '.join(spell(c) for c in columns)}) FROM …"
        )
    taken = [column for column in by_name.values() if column is not None]
    missing = [column for column in columns if column not in taken]
    if (missing and listed) or not taken:
        raise ColumnNotFound(f"{files[0]} has no column {missing[0]}; it has: {listing(found)}")
    if len(set(taken)) < len(taken):
        raise InvalidArgument(f"{files[0]} has columns whose names differ only in case: {listing(found)}")
    return taken


def _format(given: Any) -> str | None:
    if given is None:
        return None
    if str(given).upper() not in _FORMATS:
        raise InvalidArgument(f"FORMAT of {_WHAT} must be one of {', '.join(FORMATS)}, not {given}")
    return _FORMATS[str(given).upper()]
