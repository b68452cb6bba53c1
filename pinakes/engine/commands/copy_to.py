"""COPY table [(columns)] | (query) TO 'path' [(FORMAT …, …)]: rows stream into a file that appears when it is whole."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from pinakes.core.errors import InvalidArgument
from pinakes.core.names import quote
from pinakes.engine.catalogs.opening import origin_of
from pinakes.engine.files.access import FileAccess
from pinakes.engine.files.paths import is_store_path
from pinakes.engine.files.write_csv import exact_names
from pinakes.engine.files.write_options import Wanted, refuse_twice, wanted
from pinakes.engine.files.write_rows import RowWriter
from pinakes.engine.files.write_target import located, replaced_directory, replaced_file
from pinakes.engine.files.writers import open_writer
from pinakes.engine.planning.plan_schema import schema_of
from pinakes.engine.result import Result
from pinakes.engine.statement_context import Execution
from pinakes.parser.statements import CopyTo

if TYPE_CHECKING:
    from datafusion import DataFrame

    from pinakes.engine.files.stores import Remote
    from pinakes.engine.files.write_partitions import PartitionedWriter


def copy_to(statement: CopyTo, execution: Execution) -> Result:
    options = {option.key: option.value for option in statement.options}
    asked = wanted(statement.path, options)
    path = _target(statement.path, asked, execution)
    frame = _frame(statement, execution)
    schema = schema_of(frame)
    if not schema.names:
        raise InvalidArgument("COPY … TO needs at least one column")
    if asked.name not in ("csv", "tsv") or asked.target.partition_by:
        refuse_twice(schema.names, asked.name)
    try:
        with _opened(path, schema, asked, execution.session.guard.files) as writer:
            count = _write(writer, frame, execution)
            writer.finish()
            execution.query.check()  # what was stopped at the last moment replaces nothing
    finally:  # where a catalog looks, a file is a table
        place, within = origin_of("files", statement.path), bool(asked.target.partition_by)
        execution.session.engine.caches.forget_place(place, within=within)
    return Result.done("COPY", count)


def _target(path: str, asked: Wanted, execution: Execution) -> Path | Remote:
    if not is_store_path(path):
        return located(path, execution.session.guard.files)
    from pinakes.engine.files.store_target import stored

    return stored(path, execution.stores(), partitioned=bool(asked.target.partition_by))


def _frame(statement: CopyTo, execution: Execution) -> DataFrame:
    planner = execution.planner()
    if statement.text[statement.body.start] == "(":
        return planner.query(statement, statement.body)
    table = planner.rewrite(statement, statement.body)
    frame = planner.plan(f"SELECT * FROM {table.text}", statement)
    if not statement.columns:
        return frame
    from pinakes.engine.iceberg.write.assignments import target_columns

    columns = target_columns(statement.columns, list(frame.schema().names))
    return planner.plan(f"SELECT {', '.join(map(quote, columns))} FROM {table.text}", statement)


def _write(writer: RowWriter | PartitionedWriter, frame: DataFrame, execution: Execution) -> int:
    count = 0
    for batch in execution.batches(frame):
        execution.query.check()
        writer.write(batch)
        execution.query.count(batch)
        count += batch.num_rows
    return count


def _opened(
    path: Path | Remote, schema: pa.Schema, asked: Wanted, access: FileAccess
) -> AbstractContextManager[RowWriter | PartitionedWriter]:
    if asked.target.partition_by and isinstance(path, Path):
        return _partitioned(path, schema, asked, access)
    return _single(path, schema, asked)


@contextmanager
def _single(path: Path | Remote, schema: pa.Schema, asked: Wanted) -> Iterator[RowWriter]:
    with _place(path, overwrite=asked.target.overwrite is not False) as place:
        writer = open_writer(place, schema, asked)
        try:
            yield writer
        except BaseException:
            writer.abandon()
            raise


def _place(path: Path | Remote, *, overwrite: bool) -> AbstractContextManager[Path]:
    if isinstance(path, Path):
        return replaced_file(path, overwrite=overwrite)
    from pinakes.engine.files.store_target import uploaded_file

    return uploaded_file(path, overwrite=overwrite)


@contextmanager
def _partitioned(path: Path, schema: pa.Schema, asked: Wanted, access: FileAccess) -> Iterator[PartitionedWriter]:
    from pinakes.engine.files.write_partitions import PartitionedWriter

    target = asked.target
    columns = exact_names(target.partition_by, schema.names, "PARTITION_BY")
    merge = target.overwrite_or_ignore
    with replaced_directory(path, access, overwrite=bool(target.overwrite), merge=merge) as place:
        writer = PartitionedWriter(
            place,
            schema,
            columns,
            ending=_ending(asked),
            keep=target.write_partition_columns,
            opened=lambda file, own: open_writer(file, own, asked),
        )
        try:
            yield writer
        except BaseException:
            writer.abandon()
            raise


def _ending(asked: Wanted) -> str:
    """The ending of the files in a directory."""
    packed = {"gzip": ".gz", "zstd": ".zst"}.get(asked.options.compression, "")
    return f".{asked.name}{packed if asked.name not in ('parquet', 'arrow') else ''}"
