"""fast_forward(table, branch, to): moves a branch to the snapshot of another one that descends from it."""

from __future__ import annotations

import pyarrow as pa
from pyiceberg.table.refs import SnapshotRefType

from pinakes.core.errors import InvalidArgument
from pinakes.engine.iceberg.write.refs import no_ref
from pinakes.engine.procedures.base import TABLE, Parameter, Procedure, Rows, Work
from pinakes.engine.procedures.history import is_ancestor, move


def _run(work: Work) -> Rows:
    metadata, branch, to = work.table.handle.metadata, work["branch"], work["to"]
    source, moved = metadata.refs.get(to), metadata.refs.get(branch)
    if source is None:
        raise no_ref(metadata, work.found, "branch", to)
    if moved is not None and moved.snapshot_ref_type != SnapshotRefType.BRANCH:
        raise InvalidArgument(f"{branch!r} is a tag of {work.found}: only branches move on")
    before = moved.snapshot_id if moved is not None else None
    if before is not None and not is_ancestor(metadata, before, source.snapshot_id):
        raise InvalidArgument(
            f"branch {branch!r} of {work.found} can't be fast-forwarded to {to!r}: its snapshot {before} is not an "
            f"ancestor of {source.snapshot_id}. To apply a single snapshot, use cherrypick_snapshot."
        )
    if before != source.snapshot_id:
        move(work, branch, source.snapshot_id)
    return [(branch, before, source.snapshot_id)]


PROCEDURE = Procedure(
    "fast_forward",
    (TABLE, Parameter("branch", "text", required=True), Parameter("to", "text", required=True)),
    pa.schema([("branch_updated", pa.string()), ("previous_ref", pa.int64()), ("updated_ref", pa.int64())]),
    _run,
)
