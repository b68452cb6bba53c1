"""Sends a change to a remote engine, and returns the snapshot that it made and the number of changed rows.

The snapshot has the query's id as a property, by which it is found; cached metadata of the table is dropped.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from pinakes.caches.caching_catalog import forget_table
from pinakes.core.errors import NotSupportedError
from pinakes.core.iceberg_metadata import summary_value
from pinakes.core.names import Name
from pinakes.engine.iceberg.write.rewrite import TARGET, Rewrite
from pinakes.engine.remote.query import remote_statement
from pinakes.engine.remote.text import RemoteText, quoted

if TYPE_CHECKING:
    from pyiceberg.table.snapshots import Snapshot

    from pinakes.engine.binding.namespaces import ResolvedNamespace, ResolvedTable
    from pinakes.engine.statement_context import Execution

ALIAS = quoted(TARGET)
_NOTHING = pa.schema([])


def send(sql: str, text: RemoteText, execution: Execution, found: ResolvedTable) -> None:
    remote = execution.session.engine.remote
    assert remote is not None
    found.place.mount.check_writable()
    execution.query.engine = remote.name
    place = found.place
    try:
        remote.change(remote_statement(execution, text, sql, _NOTHING))
    finally:
        forget_table(place.mount.catalog, place.namespace, found.name)


def made_by(found: ResolvedTable, execution: Execution, change: Rewrite | None = None) -> Snapshot | None:
    """The snapshot that this statement made; None if it had nothing to change. One that only drops whole files is not
    signed: then it is the first that came after what the change read."""
    metadata = execution.resolver.fresh(found).handle.metadata
    for snapshot in reversed(metadata.snapshots):
        if summary_value(snapshot, "pinakes.query-id") == execution.query.query_id:
            return snapshot
    before = None if change is None else change.table.handle.current_snapshot()
    if before is None:
        return None
    unsigned = [s for s in metadata.snapshots if s.summary is not None and s.summary["pinakes.query-id"] is None]
    return next((s for s in unsigned if s.parent_snapshot_id == before.snapshot_id), None)


def counted_before(change: Rewrite, text: RemoteText, where: str, execution: Execution) -> int:
    """How many rows met the condition, in the very state of the table that was changed."""
    made = made_by(change.found, execution, change)
    if made is None or made.parent_snapshot_id is None:
        return 0
    now = target_name(change, text)
    old = f"{now} VERSION AS OF {made.parent_snapshot_id}"
    then = where.replace(f"{now} AS ", f"{old} AS ")  # a condition may ask the table itself
    return count(f"SELECT count(*) AS `c0` FROM {old} AS {ALIAS}{then}", text, execution)


def count(sql: str, text: RemoteText, execution: Execution) -> int:
    remote = execution.session.engine.remote
    assert remote is not None
    schema = pa.schema([("count", pa.int64())])
    rows = remote.run(remote_statement(execution, text, sql, schema, is_large=False))
    return sum(value for batch in rows for value in batch.column(0).to_pylist() if value is not None)


def table_name(text: RemoteText, found: ResolvedTable, execution: Execution) -> str:
    """The name of a table that may not be there yet."""
    place: ResolvedNamespace = found.place
    remote = text.catalog(place.mount.name)
    if remote is None:
        raise unsaid(f"a change in catalog {place.mount.name}")
    text.add(remote)
    return ".".join(quoted(part) for part in (remote.name, *place.namespace, found.name))


def target_name(change: Rewrite, text: RemoteText) -> str:
    found = text.table(change.relation)
    if found is None:
        raise unsaid(f"a change of {change.found}")
    return found


def check_branch(name: Name) -> None:
    if name.branch is not None:
        raise unsaid("a change of a branch")


def unsaid(what: str) -> NotSupportedError:
    return NotSupportedError(f"{what} can't run on Spark. SET engine = 'local'.")
