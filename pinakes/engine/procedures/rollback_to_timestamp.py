"""rollback_to_timestamp(table, timestamp): sets the table back to its snapshot at a time."""

from __future__ import annotations

from pinakes.core.errors import VersionNotFound
from pinakes.engine.procedures.base import MOVED, TABLE, Parameter, Procedure, Rows, Work, milliseconds
from pinakes.engine.procedures.history import ancestors, set_current


def _run(work: Work) -> Rows:
    metadata, moment = work.table.handle.metadata, milliseconds(work["timestamp"])
    for snapshot in ancestors(metadata, metadata.current_snapshot_id):
        if snapshot.timestamp_ms <= moment:
            return [set_current(work, snapshot.snapshot_id)]
    raise VersionNotFound(f"{work.found} has no snapshot that is as old as {work['timestamp'].isoformat()}")


PROCEDURE = Procedure("rollback_to_timestamp", (TABLE, Parameter("timestamp", "timestamp", required=True)), MOVED, _run)
