"""Prepares a table for the records of a batch (its columns are inferred, declared or added) and stages the batch."""

from __future__ import annotations

from collections.abc import Sequence

from pinakes.core.errors import InvalidArgument, TypeMismatch
from pinakes.pipelines.loads.context import LoadContext
from pinakes.pipelines.loads.history import Staged
from pinakes.pipelines.loads.inputs import Copies
from pinakes.pipelines.loads.model import Load
from pinakes.pipelines.loads.reading import Reading
from pinakes.pipelines.loads.shape import Column, columns_of
from pinakes.pipelines.loads.sources import Source
from pinakes.pipelines.loads.staging import NewColumn, Staging
from pinakes.pipelines.loads.tables import Target


def make(context: LoadContext, load: Load, target: Target, source: Source) -> None:
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


def staged(staging: Staging, source: Source) -> Staged:
    """Stages the records of a batch."""
    context, load = staging.context, staging.load
    with Copies(context, staging.attempt).kept() as copies:
        reading = source.reading(staging.batch, copies)
        columns = fitted(context, load, staging.target, reading)
        try:
            return staging.stage(reading, columns)
        except NewColumn:
            if load.evolution != "add":
                raise
        _add(context, staging.target, columns, reading)
        return staging.restarted().stage(reading, table_columns(context, staging.target))


def fitted(context: LoadContext, load: Load, target: Target, reading: Reading) -> Sequence[Column]:
    """Returns the table's columns after adding those of the load and of the files, where allowed."""
    if load.columns is not None:
        _agree(context, load, target)
    columns = table_columns(context, target)
    unknown = reading.unknown(columns)
    if not unknown or load.evolution == "ignore":
        return columns
    if load.evolution == "fail":
        name, path = next(iter(unknown.items()))
        raise NewColumn(load, name, path)
    _add(context, target, columns, reading)
    return table_columns(context, target)


def table_columns(context: LoadContext, target: Target) -> list[Column]:
    return context.on_spark(lambda: columns_of(context.spark.table(target.sql).schema))


def _agree(context: LoadContext, load: Load, target: Target) -> None:
    """Checks the declared columns against the table; adds new ones if `schema_evolution` allows it."""
    said = context.on_spark(lambda: _said(context, load.columns or ""))
    there = {column.name: column for column in table_columns(context, target)}
    for column in said:
        known = there.get(column.name)
        if known is not None and known.type != _stored(column.type):
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


def _said(context: LoadContext, columns: str) -> list[Column]:
    """Returns the declared columns with Spark's type names."""
    frame = context.spark.sql(f"SELECT CAST(NULL AS STRUCT<{columns}>) AS said")
    return columns_of(frame.schema["said"].dataType)


def _stored(type: str) -> str:
    """Returns the type that a column has in an Iceberg table, which supports fewer types."""
    return {"tinyint": "int", "smallint": "int"}.get(type, type)


def _add(context: LoadContext, target: Target, columns: Sequence[Column], reading: Reading) -> None:
    known = {column.name for column in columns}
    inferred = context.on_spark(reading.inferred)
    new = {
        c.name: c.type for c in inferred if c.name not in known and c.name.casefold() not in map(str.casefold, known)
    }
    if new:
        target.add_columns(new)
