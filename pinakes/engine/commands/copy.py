"""COPY between tables and files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyiceberg.schema import Schema
from pyiceberg.types import BinaryType, FixedType, StringType

from pinakes.core.errors import ColumnNotFound, InvalidArgument, NotSupportedError, TableNotFound, listing
from pinakes.core.names import Part, match, quote, spell, text_literal
from pinakes.core.types.iceberg_arrow import arrow_type_of
from pinakes.core.values import truth
from pinakes.engine.binding.binder import FILES
from pinakes.engine.binding.namespaces import ResolvedTable
from pinakes.engine.binding.relation import Relation
from pinakes.engine.catalogs.opening import origin_of
from pinakes.engine.datafusion.plan_schema import schema_of
from pinakes.engine.files.access import FileAccess
from pinakes.engine.files.paths import File, is_store_path
from pinakes.engine.files.reading.dataset import FilesSource
from pinakes.engine.files.reading.options import file_options
from pinakes.engine.files.tables import FORMATS, format_of_all, open_format
from pinakes.engine.files.writing.options import CopyFormat, parse_copy, refuse_duplicates
from pinakes.engine.files.writing.targets import replace_directory, replace_file, resolve_path
from pinakes.engine.files.writing.writers import RowWriter, exact_names, open_writer
from pinakes.engine.iceberg.write.append import append
from pinakes.engine.iceberg.write.assignments import target_columns
from pinakes.engine.iceberg.write.commit import again
from pinakes.engine.iceberg.write.load import load
from pinakes.engine.iceberg.write.loaded import Loaded
from pinakes.engine.iceberg.write.shape import hexadecimal, positions, shaped
from pinakes.engine.result import Result
from pinakes.engine.statement_context import Execution
from pinakes.parser.statements import CopyFrom, CopyTo, Query

if TYPE_CHECKING:
    from pinakes.engine.files.object_stores.stores import Remote
    from pinakes.engine.files.writing.partitions import PartitionedWriter
    from pinakes.engine.planning.plan import Plan

_COPY_FROM = "COPY … FROM"
_ALIASES = {"PARQUET": "parquet", "CSV": "csv", "TSV": "csv", "JSON": "json", "JSONL": "json", "NDJSON": "json"}
_FORMATS = {
    **_ALIASES,
    "ARROW": "arrow",
    "FEATHER": "arrow",
    "IPC": "arrow",
    "AVRO": "avro",
    "ORC": "orc",
    "XLSX": "excel",
    "EXCEL": "excel",
}

REPORT = pa.schema([(name, pa.int64()) for name in ("files_loaded", "files_skipped", "rows_loaded")])
"""The columns of the result of COPY INTO."""


def copy_from(statement: CopyFrom, execution: Execution) -> Result:
    """COPY [INTO] table [(columns)] FROM 'path' [(FORMAT …, …)]: adds the rows of files to a table in one commit. COPY
    INTO skips files that it has loaded before, unless FORCE is given.

    CSV columns are matched by position and converted to the types of the table, so '007' stays '007' in a VARCHAR
    column. Columns of Parquet, JSON and Arrow files are matched by name; missing columns get their default.
    """
    found = _target_table(statement, execution)
    if statement.into:
        return again(lambda: _copy_into(statement, execution), found)
    return Result.done("COPY", again(lambda: _copy(statement, execution), found))


def _target_table(statement: CopyFrom, execution: Execution) -> ResolvedTable:
    try:
        return execution.resolver.find(statement.table, kind="TABLE")
    except TableNotFound as error:
        path = text_literal(statement.path)
        raise TableNotFound(
            f"{error.message} To make it from the file: CREATE TABLE {statement.table} AS SELECT * FROM {path}"
        ) from error


@dataclass(frozen=True, slots=True)
class _SourceFiles:
    """The files to read, with their format and options."""

    files: list[File]
    format: str
    options: dict[str, Any]


def _find_files(statement: CopyFrom, execution: Execution) -> _SourceFiles:
    options: dict[str, Any] = {option.key.lower(): option.value for option in statement.options}
    format = _format_name(options.pop("format", None))
    files = execution.query.interruptible(lambda: execution.finder().files([statement.path], format))
    return _SourceFiles(files, format or format_of_all(files), options)


def _copy(statement: CopyFrom, execution: Execution) -> int:
    found, table = execution.resolver.table(statement.table)
    execution.query.touch(found.place.mount.name)
    selected = _find_files(statement, execution)
    if "force" in selected.options:
        raise InvalidArgument(
            f"{_COPY_FROM} takes no option FORCE: it loads every file each time. COPY INTO remembers."
        )
    return append(
        table, found, _rows_to_copy(statement, execution, table.handle.schema(), selected), execution.query.check
    )


def _copy_into(statement: CopyFrom, execution: Execution) -> Result:
    found, table = execution.resolver.table(statement.table)
    execution.query.touch(found.place.mount.name)
    selected = _find_files(statement, execution)
    downloaded = next((file for file in selected.files if file.download is not None), None)
    if downloaded is not None:
        raise NotSupportedError(
            f"COPY INTO remembers which version of a file it has loaded, and {downloaded} on the web has none: "
            f"use COPY … FROM"
        )
    loaded = Loaded(table.handle.properties)
    force = _truth(selected.options.pop("force", False))
    new = [file for file in selected.files if force or file not in loaded]
    skipped = len(selected.files) - len(new)
    if not new:
        return _report(0, skipped, 0)
    loaded.check_room(new)
    rows = _rows_to_copy(statement, execution, table.handle.schema(), replace(selected, files=new))
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


def _rows_to_copy(
    statement: CopyFrom, execution: Execution, schema: Schema, selected: _SourceFiles
) -> Iterator[pa.RecordBatch]:
    zone = execution.session.settings.time_zone
    files, format, options = selected.files, selected.format, selected.options
    names = [f.name for f in schema.fields]
    columns = target_columns(statement.columns, names) if statement.columns else names
    if format == "csv":
        source = execution.query.interruptible(lambda: _open_csv(files, options, columns, schema, zone))
    else:
        source = execution.query.interruptible(
            lambda: (
                _open_json(files, options, schema, zone)
                if format == "json"
                else open_format(files, format, options, zone, _COPY_FROM)
            )
        )
        columns = _match_columns(source.schema.names, columns, files, listed=bool(statement.columns))
    return _plan_copy(source, files, columns, schema, execution, as_text=format == "json")


def _plan_copy(
    source: FilesSource,
    files: Sequence[File],
    columns: Sequence[str],
    schema: Schema,
    execution: Execution,
    *,
    as_text: bool,
) -> Iterator[pa.RecordBatch]:
    """The rows in the table's shape; `columns` has the table's column for each that is taken from the files, where
    bytes may stand as text."""
    planner = execution.planner()
    key, names = (FILES, FILES, "copied"), tuple(source.schema.names)
    relation = planner.add(Relation(key, source.provider, names, files=tuple(files), has_statistics=source.statistics))
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
    return execution.batches(planner.plan(text, Query(text=text, shown=_COPY_FROM)))


def _decoded(sql: str, source: pa.DataType, schema: Schema, column: str) -> tuple[str, pa.DataType]:
    r"""A text for a column of bytes: what starts with `\x` has two digits for each, as in CSV
    (`engine/files/reading/text_conversion.py`)."""
    if not (pa.types.is_string(source) and isinstance(schema.find_field(column).field_type, BinaryType | FixedType)):
        return sql, source
    return hexadecimal(sql), pa.binary()


def _open_csv(
    files: list[File], options: dict[str, Any], columns: Sequence[str], schema: Schema, zone: str
) -> FilesSource:
    from pinakes.engine.files.reading.csv import open_csv_as
    from pinakes.engine.files.reading.text_conversion import Forms

    refused = next((key for key in ("columns", "types", "names", "all_varchar", "filename") if key in options), None)
    if refused is not None:
        raise InvalidArgument(f"{_COPY_FROM} takes no option {refused.upper()}: names and types are the table's")
    parsed = replace(file_options("csv", options, _COPY_FROM), hive_partitioning=False)
    forms = Forms(parsed.dateformat, parsed.timestampformat, zone)
    types = {name: arrow_type_of(schema.find_field(name).field_type, zone) for name in columns}
    return open_csv_as(files, parsed, forms, types)


def _open_json(files: list[File], options: dict[str, Any], schema: Schema, zone: str) -> FilesSource:
    """What looks like a date stays as it is written where the table has a text."""
    from pinakes.engine.files.reading.json import open_json

    texts = {f.name.casefold() for f in schema.fields if isinstance(f.field_type, StringType)}
    return open_json(files, file_options("json", options, _COPY_FROM), zone, _COPY_FROM, texts)


def _match_columns(found: Sequence[str], columns: Sequence[str], files: Sequence[File], *, listed: bool) -> list[str]:
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


def _format_name(given: Any) -> str | None:
    if given is None:
        return None
    if str(given).upper() not in _FORMATS:
        raise InvalidArgument(f"FORMAT of {_COPY_FROM} must be one of {', '.join(FORMATS)}, not {given}")
    return _FORMATS[str(given).upper()]


def copy_to(statement: CopyTo, execution: Execution) -> Result:
    """COPY table [(columns)] | (query) TO 'path' [(FORMAT …, …)]: writes rows to a file, which becomes visible when it
    is complete.
    """
    options = {option.key: option.value for option in statement.options}
    output = parse_copy(statement.path, options)
    path = _target_path(statement.path, output, execution)
    plan = _plan_rows(statement, execution)
    schema = schema_of(plan.frame)
    if not schema.names:
        raise InvalidArgument("COPY … TO needs at least one column")
    if output.name not in ("csv", "tsv") or output.target.partition_by:
        refuse_duplicates(schema.names, output.name)
    try:
        with _open_target(path, schema, output, execution.session.guard.files) as writer:
            count = _write_rows(writer, plan, execution)
            writer.finish()
            execution.query.check()  # what was stopped at the last moment replaces nothing
    finally:  # where a catalog looks, a file is a table
        place, within = origin_of("files", statement.path), bool(output.target.partition_by)
        execution.session.engine.caches.forget_place(place, within=within)
    return Result.done("COPY", count)


def _target_path(path: str, output: CopyFormat, execution: Execution) -> Path | Remote:
    if not is_store_path(path):
        return resolve_path(path, execution.session.guard.files)
    from pinakes.engine.files.writing.targets import resolve_object

    return resolve_object(path, execution.stores(), partitioned=bool(output.target.partition_by))


def _plan_rows(statement: CopyTo, execution: Execution) -> Plan:
    planner = execution.planner()
    if statement.text[statement.body.start] == "(":
        return planner.query(statement, statement.body)
    table = planner.rewrite(statement, statement.body)
    plan = planner.plan(f"SELECT * FROM {table.text}", statement)
    if not statement.columns:
        return plan
    columns = target_columns(statement.columns, list(plan.frame.schema().names))
    return planner.plan(f"SELECT {', '.join(map(quote, columns))} FROM {table.text}", statement)


def _write_rows(writer: RowWriter | PartitionedWriter, plan: Plan, execution: Execution) -> int:
    count = 0
    for batch in execution.batches(plan):
        execution.query.check()
        writer.write(batch)
        execution.query.count(batch)
        count += batch.num_rows
    return count


def _open_target(
    path: Path | Remote, schema: pa.Schema, output: CopyFormat, access: FileAccess
) -> AbstractContextManager[RowWriter | PartitionedWriter]:
    if output.target.partition_by and isinstance(path, Path):
        return _partitioned_directory(path, schema, output, access)
    return _single_file(path, schema, output)


@contextmanager
def _single_file(path: Path | Remote, schema: pa.Schema, output: CopyFormat) -> Iterator[RowWriter]:
    with _written_file(path, overwrite=output.target.overwrite is not False) as place:
        writer = open_writer(place, schema, output)
        try:
            yield writer
        except BaseException:
            writer.abandon()
            raise


def _written_file(path: Path | Remote, *, overwrite: bool) -> AbstractContextManager[Path]:
    if isinstance(path, Path):
        return replace_file(path, overwrite=overwrite)
    from pinakes.engine.files.writing.targets import upload_file

    return upload_file(path, overwrite=overwrite)


@contextmanager
def _partitioned_directory(
    path: Path, schema: pa.Schema, output: CopyFormat, access: FileAccess
) -> Iterator[PartitionedWriter]:
    from pinakes.engine.files.writing.partitions import PartitionedWriter

    target = output.target
    columns = exact_names(target.partition_by, schema.names, "PARTITION_BY")
    merge = target.overwrite_or_ignore
    with replace_directory(path, access, overwrite=bool(target.overwrite), merge=merge) as place:
        writer = PartitionedWriter(
            place,
            schema,
            columns,
            ending=_ending(output),
            keep=target.write_partition_columns,
            opened=lambda file, own: open_writer(file, own, output),
        )
        try:
            yield writer
        except BaseException:
            writer.abandon()
            raise


def _ending(output: CopyFormat) -> str:
    """The ending of the files in a directory."""
    packed = {"gzip": ".gz", "zstd": ".zst"}.get(output.options.compression, "")
    return f".{output.name}{packed if output.name not in ('parquet', 'arrow') else ''}"
