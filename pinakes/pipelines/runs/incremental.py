"""Incremental tables: adds the rows that are new in their sources since the last run, exactly once.

The position of each flow in its source is a table property, which changes in the same commit that adds the rows.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from pinakes.core.errors import PipelineFailed, TypeMismatch
from pinakes.pipelines.runs.expectations import Checked, checked
from pinakes.pipelines.runs.materialize import read_by
from pinakes.pipelines.runs.step import Made
from pinakes.pipelines.runs.tables import POSITIONS, head_of, since, table_of
from pinakes.pipelines.runs.writing import counted, rewrite, same_columns, shaped, write_more, write_new

if TYPE_CHECKING:
    from pinakes.core.catalog import IcebergTable
    from pinakes.pipelines.project.model import Dataset, Flow, Key
    from pinakes.pipelines.runs.step import Attempt

_APPENDED, _REWRITTEN = "append", "replace"


def extend(attempt: Attempt, dataset: Dataset) -> Made:
    """Runs each flow in turn; after an interruption the next run continues."""
    made = Made(was_there=True)
    is_full_refresh = dataset.key in attempt.full_refresh
    for flow in dataset.flows:
        made = _flow(attempt, dataset, flow, made, is_full_refresh=is_full_refresh)
        is_full_refresh = False
    return made


def _flow(attempt: Attempt, dataset: Dataset, flow: Flow, made: Made, *, is_full_refresh: bool) -> Made:
    workspace = attempt.workspace
    table = table_of(workspace.session, dataset.key)
    known = {} if table is None or is_full_refresh else positions_of(table)
    (source,) = {workspace.graph.meaning(read) for read in flow.streams}
    position = known.get(flow.name)
    head, options = _range(attempt, dataset, source, position)
    if table is not None and not is_full_refresh and (head == position or head is None):
        return made
    pins: dict[Key, int | None] = {}

    def read() -> Checked:
        frame = shaped(workspace.frame(flow, pins, {source: options}), dataset, workspace.spark)
        kept = frame if head is not None else frame.limit(0)
        return checked(kept, tuple(dataset.expectations), f"{dataset.name}/{flow.name}")

    rows = workspace.on_spark(read)
    properties = {POSITIONS: json.dumps({**known, flow.name: head} if head is not None else known)}
    if table is None:
        snapshot = write_new(attempt, dataset, rows, properties)
    elif is_full_refresh or head_of(table) is None:
        snapshot = rewrite(attempt, dataset, rows, properties)
    else:
        _check_columns(attempt, dataset, rows.source)
        snapshot = write_more(attempt, dataset, table, rows, properties)
    reads = {**read_by(attempt, flow, pins), source: (position, head)}
    made.inputs += attempt.inputs(flow.name, reads)
    made.was_there = False
    return workspace.on_spark(lambda: counted(made, snapshot, rows))


def positions_of(table: IcebergTable) -> dict[str, int]:
    """Returns the snapshot up to which each flow has read its source."""
    found: dict[str, int] = json.loads(table.handle.metadata.properties.get(POSITIONS, "{}"))
    return found


def _range(attempt: Attempt, dataset: Dataset, source: Key, position: int | None) -> tuple[int | None, dict[str, str]]:
    """Returns the snapshot up to which the source is read, and the read options for Spark."""
    table = table_of(attempt.workspace.session, source)
    if table is None:
        raise PipelineFailed(f"its source {'.'.join(source)} does not exist any more")
    head = head_of(table)
    if head is None:
        return None, {}
    if position is None:
        return head.snapshot_id, {"versionAsOf": str(head.snapshot_id)}
    way_on = f"`--full-refresh {attempt.workspace.graph.spec.shown(dataset.key)}` rebuilds it from all rows"
    between = since(table.handle.metadata, position)
    if between is None:
        raise PipelineFailed(
            f"what is new in {'.'.join(source)} can't be determined: it was re-created, rolled back, or its snapshot "
            f"{position} has expired. {way_on}."
        )
    for snapshot in between:
        operation = snapshot.summary.operation.value if snapshot.summary is not None else _APPENDED
        if operation not in (_APPENDED, _REWRITTEN):
            raise PipelineFailed(
                f"rows of {'.'.join(source)} were changed or removed (snapshot {snapshot.snapshot_id}, {operation}), "
                f"and an incremental table only takes new ones. {way_on}."
            )
    return head.snapshot_id, {"start-snapshot-id": str(position), "end-snapshot-id": str(head.snapshot_id)}


def _check_columns(attempt: Attempt, dataset: Dataset, frame: Any) -> None:
    workspace = attempt.workspace
    existing = workspace.spark.table(workspace.spark_name(dataset.key))
    if workspace.on_spark(lambda: same_columns(frame, existing)):
        return
    new, old = frame.schema.simpleString(), existing.schema.simpleString()
    raise TypeMismatch(
        f"its query gives {new} and the table has {old}: an incremental table keeps its columns. "
        f"`--full-refresh {workspace.graph.spec.shown(dataset.key)}` rebuilds it."
    )
