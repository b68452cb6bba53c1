"""compute_table_stats(table, [snapshot_id], [columns]): the number of distinct values per column, for planners.

The same as ANALYZE; returns the path of the statistics.
"""

from __future__ import annotations

import pyarrow as pa

from pinakes.core.names import Part
from pinakes.engine.iceberg.statistics.analyze import analyze
from pinakes.engine.iceberg.write.assignments import target_columns
from pinakes.engine.procedures.base import TABLE, Parameter, Procedure, Rows, Work
from pinakes.engine.procedures.history import known_snapshot


def _run(work: Work) -> Rows:
    number = work["snapshot_id"]
    if number is not None:
        known_snapshot(work, number)
    names = [field.name for field in work.table.handle.schema().fields]
    columns = target_columns([Part(name, quoted=False) for name in work["columns"] or ()], names)
    path = analyze(work.execution, work.found, work.table, columns, number)
    return [] if path is None else [(path,)]


PROCEDURE = Procedure(
    "compute_table_stats",
    (TABLE, Parameter("snapshot_id", "integer"), Parameter("columns", "texts")),
    pa.schema([("statistics_file", pa.string())]),
    _run,
    on_remote_engine="large",
    in_transactions=False,
)
