"""Materialized views: all rows are recomputed in each run, in one commit. Temporary views: names for queries during a
run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pinakes.core.iceberg_metadata import summary_value
from pinakes.pipelines.runs.expectations import Checked, checked
from pinakes.pipelines.runs.step import Made, definition_of
from pinakes.pipelines.runs.tables import DEFINITION, RUN_ID, head_of, table_of
from pinakes.pipelines.runs.writing import counted, rewrite, same_columns, shaped, write_new, write_over

if TYPE_CHECKING:
    from typing import Any

    from pinakes.core.catalog import IcebergTable
    from pinakes.pipelines.project.model import Dataset, Flow, Key
    from pinakes.pipelines.runs.step import Attempt

_PARTITIONS = "pinakes.pipeline.partitions"


def materialize(attempt: Attempt, dataset: Dataset) -> Made:
    workspace, (flow,) = attempt.workspace, dataset.flows
    table = table_of(workspace.session, dataset.key)
    if attempt.resumes and table is not None and _is_done(attempt, dataset, table):
        head = head_of(table)
        return Made(snapshot=None if head is None else head.snapshot_id, was_there=True)
    pins: dict[Key, int | None] = {}

    def read() -> Checked:
        frame = shaped(workspace.frame(flow, pins, {}), dataset, workspace.spark)
        return checked(frame, tuple(dataset.expectations), dataset.name)

    rows = workspace.on_spark(read)
    properties = {_PARTITIONS: ", ".join(dataset.partitions)}
    if table is None:
        snapshot = write_new(attempt, dataset, rows, properties)
    elif _fits(attempt, dataset, table, rows.source):
        snapshot = write_over(attempt, dataset, table, rows)
    else:
        snapshot = rewrite(attempt, dataset, rows, properties)
    made = Made(inputs=attempt.inputs(flow.name, read_by(attempt, flow, pins)))
    return workspace.on_spark(lambda: counted(made, snapshot, rows))


def define_view(attempt: Attempt, dataset: Dataset) -> Made:
    workspace, (flow,) = attempt.workspace, dataset.flows
    pins: dict[Key, int | None] = {}

    def define() -> None:
        workspace.frame(flow, pins, {}).createOrReplaceTempView(dataset.key[0])

    workspace.on_spark(define)
    attempt.view_inputs[dataset.key] = attempt.inputs(flow.name, read_by(attempt, flow, pins))
    return Made()


def read_by(attempt: Attempt, flow: Flow, pins: dict[Key, int | None]) -> dict[Key, tuple[int | None, int | None]]:
    """Returns the inputs of a flow, with their snapshots where known."""
    keys = [attempt.workspace.graph.meaning(read) for read in flow.reads]
    return {key: (None, pins.get(key)) for key in keys}


def _is_done(attempt: Attempt, dataset: Dataset, table: IcebergTable) -> bool:
    """Whether the resumed run has updated this table already, with the same definition."""
    head = head_of(table)
    return summary_value(head, RUN_ID) == attempt.run_id and summary_value(head, DEFINITION) == definition_of(dataset)


def _fits(attempt: Attempt, dataset: Dataset, table: IcebergTable, frame: Any) -> bool:
    """Whether the rows fit the table's columns and partitions."""
    if head_of(table) is None:
        return False
    columns = ", ".join(dataset.partitions)
    if table.handle.metadata.properties.get(_PARTITIONS, columns) != columns:
        return False
    workspace = attempt.workspace
    existing = workspace.spark.table(workspace.spark_name(dataset.key))
    return workspace.on_spark(lambda: same_columns(frame, existing))
