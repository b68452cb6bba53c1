"""Writes rows of Spark into an Iceberg table, in one commit with the properties of the run."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pinakes.core.errors import CommitConflict, NotSupportedError, PipelineFailed, TypeMismatch
from pinakes.core.iceberg_metadata import summary_number
from pinakes.engine.iceberg.write.checks import refuse_checked
from pinakes.pipelines.project.model import OWNER
from pinakes.pipelines.runs.expectations import Checked, broken
from pinakes.pipelines.runs.tables import branch_of, head_of, make_branch, make_namespace, publish, sweep, table_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyiceberg.table.snapshots import Snapshot

    from pinakes.core.catalog import IcebergTable
    from pinakes.core.errors import PinakesError
    from pinakes.pipelines.project.model import Dataset
    from pinakes.pipelines.runs.step import Attempt, Made

_EXISTS = re.compile(r"(?i)already[_ ]?exists")
_TRANSFORM = re.compile(r"^\s*(\w+)\s*\(\s*(?:(\d+)\s*,\s*)?`?([^`,()]+?)`?\s*(?:,\s*(\d+)\s*)?\)\s*$")
_TIMES = {"years": "years", "year": "years", "months": "months", "month": "months", "days": "days", "day": "days"} | {
    "hours": "hours", "hour": "hours",
}  # fmt: skip


def shaped(frame: Any, dataset: Dataset, spark: Any) -> Any:
    """Returns the rows with the declared columns; an impossible type conversion fails before anything is written."""
    if dataset.columns is None:
        return frame
    schema = spark._parse_ddl(dataset.columns)
    return frame.to(schema)


def same_columns(frame: Any, existing: Any) -> bool:
    """Whether names and types are the same, in order; nullability is ignored."""
    return [(f.name, _type(f.dataType)) for f in frame.schema.fields] == [
        (f.name, _type(f.dataType)) for f in existing.schema.fields
    ]


def _type(type: Any) -> str:
    return str(type.simpleString())


def write_new(attempt: Attempt, dataset: Dataset, rows: Checked, properties: Mapping[str, str]) -> Snapshot | None:
    """Creates the table with its rows. Fails if it was created concurrently."""
    make_namespace(attempt.workspace.session, dataset.key)
    _write(attempt, dataset, rows, lambda: _definer(attempt, dataset, rows, properties).create())
    return _made(attempt, dataset)


def rewrite(attempt: Attempt, dataset: Dataset, rows: Checked, properties: Mapping[str, str]) -> Snapshot | None:
    """Replaces the table, for other columns or partitions or a full refresh. Earlier snapshots are kept."""
    sweep(attempt.workspace.session, dataset.key)
    _write(attempt, dataset, rows, lambda: _definer(attempt, dataset, rows, properties).createOrReplace())
    return _made(attempt, dataset)


def write_over(attempt: Attempt, dataset: Dataset, table: IcebergTable, rows: Checked) -> Snapshot | None:
    """Replaces all rows of an existing table."""
    from pinakes.spark.dataframes import functions as f

    return _by_branch(attempt, dataset, table, rows, _properties(dataset), lambda w: w.overwrite(f.lit(True)))


def write_more(
    attempt: Attempt, dataset: Dataset, table: IcebergTable, rows: Checked, properties: Mapping[str, str]
) -> Snapshot | None:
    """Appends rows to an existing table; `properties` change in the same commit."""
    return _by_branch(attempt, dataset, table, rows, {**_properties(dataset), **properties}, lambda w: w.append())


def _by_branch(
    attempt: Attempt,
    dataset: Dataset,
    table: IcebergTable,
    rows: Checked,
    properties: Mapping[str, str],
    write: Callable[[Any], None],
) -> Snapshot | None:
    workspace = attempt.workspace
    refuse_checked(table.handle.properties, "a pipeline")
    before = make_branch(workspace.session, dataset.key, table, attempt.token)
    if before is None:
        shown = workspace.graph.spec.shown(dataset.key)
        raise NotSupportedError(
            f"the catalog {dataset.key[0]!r} keeps no branches of tables, so {shown!r} can't be changed in one commit "
            f"that only this run makes: fill another catalog."
        )
    name = workspace.spark_name(dataset.key, f"branch_{branch_of(attempt.token)}")
    _write(attempt, dataset, rows, lambda: write(_signed(attempt, dataset, rows.frame.writeTo(name))))
    workspace.query.check()
    publish(workspace.session, dataset.key, attempt.token, before, properties)
    return _made(attempt, dataset)


def _write(attempt: Attempt, dataset: Dataset, rows: Checked, write: Callable[[], None]) -> None:
    try:
        attempt.workspace.on_spark(write)
    except Exception as error:
        expectation = broken(error, rows.expectations)
        if expectation is None and _EXISTS.search(str(error.__cause__ or error)):
            raise CommitConflict(f"{dataset.name} was created by another writer. Run again.") from error
        if expectation is None:
            raise
        raise _Broken(expectation.name, rows, error) from error


class _Broken(PipelineFailed):
    """An expectation with the action fail is violated."""

    def __init__(self, name: str, rows: Checked, cause: BaseException) -> None:
        super().__init__(f"the expectation {name!r} does not hold")
        self.rows = rows


def _definer(attempt: Attempt, dataset: Dataset, rows: Checked, properties: Mapping[str, str]) -> Any:
    writer = rows.frame.writeTo(attempt.workspace.spark_name(dataset.key)).using("iceberg")
    if dataset.partitions:
        writer = writer.partitionedBy(*(partition(text) for text in dataset.partitions))
    owner = {OWNER: attempt.workspace.graph.spec.name}
    for key, value in {**_properties(dataset), **properties, **owner}.items():
        writer = writer.tableProperty(key, value)
    return _signed(attempt, dataset, writer)


def _properties(dataset: Dataset) -> dict[str, str]:
    """Returns the properties that the definition declares."""
    return {**dataset.properties, **({} if dataset.comment is None else {"comment": dataset.comment})}


def _signed(attempt: Attempt, dataset: Dataset, writer: Any) -> Any:
    for key, value in attempt.signature(dataset).items():
        writer = writer.option(f"snapshot-property.{key}", value)
    return writer


def partition(text: str) -> Any:
    """Parses a partition field: a column, or one of Iceberg's transforms."""
    from pinakes.spark.dataframes import functions as f
    from pinakes.spark.dataframes import partitioning

    found = _TRANSFORM.match(text)
    if found is None:
        return f.col(text.strip())
    function, before, column, after = found.group(1).lower(), found.group(2), found.group(3), found.group(4)
    if function in _TIMES:
        return getattr(partitioning, _TIMES[function])(column)
    if function == "bucket" and (before or after):
        return partitioning.bucket(int(before or after), column)
    raise TypeMismatch(
        f"a table can be partitioned by columns and years, months, days, hours or bucket(n, …) of them, not by {text}"
    )


def _made(attempt: Attempt, dataset: Dataset) -> Snapshot | None:
    table = table_of(attempt.workspace.session, dataset.key)
    return None if table is None else head_of(table)


def counted(made: Made, snapshot: Snapshot | None, rows: Checked) -> Made:
    """Adds the counts of a completed write to the result of a step."""
    written = summary_number(snapshot, "added-records")
    made.rows += written
    made.files += summary_number(snapshot, "added-data-files")
    made.snapshot = None if snapshot is None else snapshot.snapshot_id
    made.outcomes = _summed(made.outcomes, rows.outcomes(written))
    return made


def _summed(before: list[Any], more: list[Any]) -> list[Any]:
    from pinakes.pipelines.runs.expectations import Outcome

    if not before:
        return more
    pairs = zip(before, more, strict=True)
    return [Outcome(a.expectation, a.passed + b.passed, a.failed + b.failed) for a, b in pairs]


def outcomes_of(error: PinakesError) -> list[Any]:
    """Returns the outcomes of the expectations of a step that one of them stopped."""
    return error.rows.failures() if isinstance(error, _Broken) else []
