"""Stages the records of a batch in a table whose columns are inferred, declared or added before.

Good records and bad records become snapshots that are not visible until `run.py` publishes them.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from pinakes.core.errors import ColumnNotFound, DataCorrupt, InvalidArgument, PinakesError, TypeMismatch
from pinakes.core.iceberg_metadata import summary_number
from pinakes.engine.remote.text import quoted_text
from pinakes.pipelines.loads.context import LoadContext
from pinakes.pipelines.loads.ledger import REPLACE, Batch, Staged
from pinakes.pipelines.loads.model import Load
from pinakes.pipelines.loads.reading import shape
from pinakes.pipelines.loads.reading.bad_records import BAD_COLUMNS, bad_frame
from pinakes.pipelines.loads.reading.inputs import Copies, Unreadable
from pinakes.pipelines.loads.reading.interface import Reading
from pinakes.pipelines.loads.reading.shape import Column, columns_of
from pinakes.pipelines.loads.sources import Source
from pinakes.pipelines.loads.tables import Target


def create_target(context: LoadContext, load: Load, target: Target, source: Source) -> None:
    """Creates the table with the declared columns, or with those inferred from the records."""
    if load.columns is not None:
        target.ensure(load.columns)
        return
    with Copies(context, f"{context.query.query_id}-inferred").kept() as copies:
        reading = source.reading(None, copies)
        columns = context.on_spark(reading.inferred)
    if not columns:
        faults = "; ".join(f"'{u.path}': {u.reason}" for u in reading.unreadable[:3])
        raise InvalidArgument(
            f"table {load.name} can't be made: no columns can be inferred from '{source.shown}'"
            f'{f" ({faults})" if faults else ", whose files are empty"}. Say them: columns: "id BIGINT, name STRING".'
        )
    target.ensure(", ".join(column.sql for column in columns))


def stage_batch(staging: Staging, source: Source) -> Staged:
    """Stages the records of a batch."""
    context, load = staging.context, staging.load
    with Copies(context, staging.attempt).kept() as copies:
        reading = source.reading(staging.batch, copies)
        columns = _prepare_columns(context, load, staging.target, reading)
        try:
            return staging.stage(reading, columns)
        except NewColumn:
            if load.evolution != "add":
                raise
        _add_columns(context, staging.target, columns, reading)
        return staging.restarted().stage(reading, _table_columns(context, staging.target))


def _prepare_columns(context: LoadContext, load: Load, target: Target, reading: Reading) -> Sequence[Column]:
    """Returns the table's columns after adding those of the load and of the files, where allowed."""
    if load.columns is not None:
        _check_declared(context, load, target)
    columns = _table_columns(context, target)
    unknown = reading.unknown(columns)
    if not unknown or load.evolution == "ignore":
        return columns
    if load.evolution == "fail":
        name, path = next(iter(unknown.items()))
        raise NewColumn(load, name, path)
    _add_columns(context, target, columns, reading)
    return _table_columns(context, target)


def _table_columns(context: LoadContext, target: Target) -> list[Column]:
    return context.on_spark(lambda: columns_of(context.spark.table(target.sql).schema))


def _check_declared(context: LoadContext, load: Load, target: Target) -> None:
    """Checks the declared columns against the table; adds new ones if `schema_evolution` allows it."""
    said = context.on_spark(lambda: _declared_columns(context, load.columns or ""))
    there = {column.name: column for column in _table_columns(context, target)}
    for column in said:
        known = there.get(column.name)
        if known is not None and known.type != _stored_type(column.type):
            raise TypeMismatch(
                f"table {load.name} has the column '{column.name}' as {known.type.upper()}, and the load says "
                f"{column.type.upper()}. Say the table's type, or change the table: ALTER TABLE … ALTER COLUMN."
            )
        if known is None and load.evolution != "add":
            raise InvalidArgument(
                f"table {load.name} has no column '{column.name}', which the load says. Set schema_evolution: add, or "
                f"ALTER TABLE {load.name} ADD COLUMN."
            )
    new = {column.name: column.type for column in said if column.name not in there}
    if new:
        target.add_columns(new)


def _declared_columns(context: LoadContext, columns: str) -> list[Column]:
    """Returns the declared columns with Spark's type names."""
    frame = context.spark.sql(f"SELECT CAST(NULL AS STRUCT<{columns}>) AS said")
    return columns_of(frame.schema["said"].dataType)


def _stored_type(type: str) -> str:
    """Returns the type that a column has in an Iceberg table, which supports fewer types."""
    return {"tinyint": "int", "smallint": "int"}.get(type, type)


def _add_columns(context: LoadContext, target: Target, columns: Sequence[Column], reading: Reading) -> None:
    known = {column.name for column in columns}
    inferred = context.on_spark(reading.inferred)
    new = {
        c.name: c.type for c in inferred if c.name not in known and c.name.casefold() not in map(str.casefold, known)
    }
    if new:
        target.add_columns(new)


# --- staging -----------------------------------------------------------------------------------------------------


_SHOWN = 3


@dataclass(slots=True)
class Staging:
    """One attempt to stage a batch."""

    context: LoadContext
    load: Load
    target: Target
    bad: Target
    batch: Batch
    run_id: str
    attempt: str = field(default_factory=lambda: uuid.uuid4().hex)

    def restarted(self) -> Staging:
        return replace(self, attempt=uuid.uuid4().hex)

    def stage(self, reading: Reading, columns: Sequence[Column]) -> Staged:
        """Stages the batch. An unreadable file is left out, and counts as one bad record."""
        while True:
            try:
                return self._stage(reading, columns)
            except PinakesError as error:
                found = _blamed(error, reading)
                if found is None:
                    raise
                reading = reading.only({entry.uri for entry in reading.inputs} - {found.uri})
                reading.unreadable.append(Unreadable(found.path, f"the file can't be read: {_words(error)}"))

    def _stage(self, reading: Reading, columns: Sequence[Column]) -> Staged:
        if self.load.bad_records == "fail" and reading.unreadable:
            raise self._refused([(u.path, u.reason) for u in reading.unreadable], len(reading.unreadable))
        frame = self.context.on_spark(lambda: reading.frame(columns))
        snapshot, bad_rows, bad_files = self._good(frame, reading, columns)
        self.context.reached("staged")
        bad_rows += len(reading.unreadable)
        kept = self._kept(reading.only(bad_files), columns, bad_rows)
        self.context.reached("staged bad")
        return Staged(snapshot.snapshot_id, kept, summary_number(snapshot, "added-records"), bad_rows)

    def _good(self, frame: Any, reading: Reading, columns: Sequence[Column]) -> tuple[Any, int, set[str]]:
        from pinakes.spark.dataframes import Observation
        from pinakes.spark.dataframes import functions as F

        batch = self.batch
        if frame is None:
            empty = self.context.spark.table(self.target.sql).limit(0)
            return self.target.stage(empty, batch.batch, self.attempt, batch.mode), 0, set()
        seen = Observation(f"load-{self.attempt}")
        extra = f"max(CASE WHEN {shape.EXTRA} IS NOT NULL THEN struct({shape.FILE}, {shape.EXTRA}) END)"
        wanted = [
            F.expr(f"count_if({shape.REASON} IS NOT NULL)").alias("bad"),
            F.expr(f"collect_set(CASE WHEN {shape.REASON} IS NOT NULL THEN {shape.FILE} END)").alias("files"),
            F.expr(f"({extra}).{shape.FILE}").alias("file"),
            F.expr(f"({extra}).{shape.EXTRA}").alias("extra"),
        ]
        watched = frame.observe(seen, *wanted)
        snapshot = self.target.stage(shape.select_good(watched, columns), batch.batch, self.attempt, batch.mode)
        values = seen.get
        if "bad" not in values:  # Spark may deliver the metrics too late: then a query computes them
            values = self.context.on_spark(lambda: frame.agg(*wanted).collect()[0].asDict())
        if values["extra"] is not None and self.load.evolution != "ignore":
            raise NewColumn(self.load, str(values["extra"]), _path(str(values["file"]), reading))
        bad = int(values["bad"])
        if bad and self.load.bad_records == "fail":
            raise self._refused(self._examples(frame, reading), bad)
        return snapshot, bad, {uri_of(file) for file in values["files"]}

    def _kept(self, reading: Reading, columns: Sequence[Column], bad_rows: int) -> int | None:
        """Returns the snapshot of the bad records; with a full refresh they replace the old ones."""
        replaces = self.batch.mode == REPLACE and self.bad.metadata() is not None
        if self.load.bad_records != "keep" or not (bad_rows or replaces):
            return None
        self.bad.ensure(BAD_COLUMNS)
        found = self.context.on_spark(lambda: bad_frame(self.context.spark, reading, columns))
        signed = found.selectExpr(
            *("file", "line", "record", "reason"),
            f"{quoted_text(self.batch.batch)} AS batch",
            f"{quoted_text(self.run_id)} AS run_id",
            f"TIMESTAMP'{datetime.now(UTC):%Y-%m-%d %H:%M:%S.%f}' AS at",
        )
        return self.bad.stage(signed, self.batch.batch, self.attempt, self.batch.mode).snapshot_id

    def _examples(self, frame: Any, reading: Reading) -> list[tuple[str, str]]:
        found = frame.filter(f"{shape.REASON} IS NOT NULL").select(shape.FILE, shape.REASON).limit(_SHOWN)
        rows = self.context.on_spark(found.collect)
        return [(_path(row[0], reading), row[1]) for row in rows]

    def _refused(self, examples: Sequence[tuple[str, str]], count: int) -> DataCorrupt:
        shown = "; ".join(f"'{path}': {reason}" for path, reason in examples[:_SHOWN])
        records = f"{count:,} records do" if count > 1 else "a record does"
        return DataCorrupt(
            f"table {self.load.name} was not loaded and is unchanged: {records} not fit: {shown}. Correct the file and "
            f"run it again, or set bad_records: keep, which loads the others and puts these into "
            f"{'.'.join(self.load.bad_target)} with the reason."
        )


class NewColumn(ColumnNotFound):
    """A file has a column that the table lacks."""

    def __init__(self, load: Load, column: str, path: str) -> None:
        self.column = column
        super().__init__(
            f"table {load.name} was not loaded, it stays as it was: '{path}' has a column '{column}' that the table "
            f"has not. Set schema_evolution: add, which gives the table the column, or ignore, which leaves it out; "
            f"or add it yourself: ALTER TABLE {load.name} ADD COLUMN."
        )


def uri_of(name: str) -> str:
    """Normalizes a file name of Spark to the form of `Input.uri`: Spark writes it with one slash."""
    return re.sub("^file:/+", "file:///", name)


def _path(name: str, reading: Reading) -> str:
    """Returns the path that the user knows for a file name of Spark."""
    uri = uri_of(name)
    return next((entry.path for entry in reading.inputs if entry.uri == uri), uri.removeprefix("file://"))


def _blamed(error: PinakesError, reading: Reading) -> Any:
    """Returns the file that Spark could not read, if the error is about one."""
    cause = re.sub("file:/+", "file:///", str(error.__cause__))
    if "FAILED_READ_FILE" not in cause and "CANNOT_READ_FILE" not in cause:
        return None
    return next((entry for entry in reading.inputs if f"{entry.uri} " in cause or f"{entry.uri}." in cause), None)


def _words(error: PinakesError) -> str:
    cause = str(error.__cause__)
    causes = [line.removeprefix("Caused by:").strip() for line in cause.splitlines() if line.startswith("Caused by:")]
    return (causes[-1] if causes else error.message)[:300]
