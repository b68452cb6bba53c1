"""rollback_to_snapshot(table, snapshot_id): sets the table back to an ancestor of the current snapshot."""

from __future__ import annotations

from pinakes.core.errors import InvalidArgument
from pinakes.engine.procedures.base import MOVED, SNAPSHOT, TABLE, Procedure, Rows, Work
from pinakes.engine.procedures.history import is_ancestor, known_snapshot, set_current


def _run(work: Work) -> Rows:
    metadata, wanted = work.table.handle.metadata, work["snapshot_id"]
    known_snapshot(work, wanted)
    if not is_ancestor(metadata, wanted, metadata.current_snapshot_id):
        raise InvalidArgument(
            f"can't roll {work.found} back to snapshot {wanted}, which is not an ancestor of the current snapshot "
            f"{metadata.current_snapshot_id}. set_current_snapshot accepts any snapshot."
        )
    return [set_current(work, wanted)]


PROCEDURE = Procedure("rollback_to_snapshot", (TABLE, SNAPSHOT), MOVED, _run)
