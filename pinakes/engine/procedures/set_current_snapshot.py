"""set_current_snapshot(table, snapshot_id | ref): sets the table to any snapshot, branch or tag."""

from __future__ import annotations

from pinakes.core.errors import InvalidArgument
from pinakes.engine.iceberg.write.refs import snapshot_of
from pinakes.engine.procedures.base import MOVED, TABLE, Parameter, Procedure, Rows, Work
from pinakes.engine.procedures.history import known_snapshot, set_current


def _run(work: Work) -> Rows:
    number, ref = work["snapshot_id"], work["ref"]
    if (number is None) == (ref is None):
        raise InvalidArgument("set_current_snapshot needs either a snapshot_id or a ref")
    if number is None:
        number = snapshot_of(work.table.handle.metadata, work.found, ref)
    return [set_current(work, known_snapshot(work, number).snapshot_id)]


PROCEDURE = Procedure(
    "set_current_snapshot", (TABLE, Parameter("snapshot_id", "integer"), Parameter("ref", "text")), MOVED, _run
)
