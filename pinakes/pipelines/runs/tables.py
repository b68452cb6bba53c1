"""Current state of a pipeline's tables, and the publication of the rows that Spark wrote.

Spark writes into a branch that belongs to one run. One commit then moves the table to that branch, and fails if the
table has changed meanwhile. So readers see either the old or the new rows, and a Spark that still works for an ended
run writes to a branch that is not read.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

from pyiceberg.table.refs import MAIN_BRANCH, SnapshotRefType

from pinakes.caches.caching_catalog import forget_table
from pinakes.core.catalog import IcebergTable, SupportsTables
from pinakes.core.errors import CommitConflict, NotFoundError, NotSupportedError
from pinakes.core.names import quote
from pinakes.engine.binding.namespaces import ResolvedNamespace
from pinakes.engine.iceberg.branches import new_ref
from pinakes.engine.iceberg.write.commit import begin, commit, hold_snapshot
from pinakes.engine.iceberg.write.refs import removed, set_ref
from pinakes.engine.procedures.history import ancestors

if TYPE_CHECKING:
    from pyiceberg.table.metadata import TableMetadata
    from pyiceberg.table.snapshots import Snapshot

    from pinakes.engine.session import Session
    from pinakes.pipelines.project.model import Key

RUN_ID, PIPELINE = "pinakes.pipeline.run-id", "pinakes.pipeline.name"
DEFINITION, POSITIONS = "pinakes.pipeline.definition", "pinakes.pipeline.positions"
"""Snapshot properties; the last one is a table property with the position in each source."""
_BRANCH = "pinakes_run_"


def table_of(session: Session, key: Key) -> IcebergTable | None:
    """Returns the current table; None if it does not exist."""
    catalog, *namespace, name = key
    mounted = session.catalogs.get(catalog).catalog
    forget_table(mounted, tuple(namespace), name)
    assert isinstance(mounted, SupportsTables)
    try:
        found = mounted.load_table(tuple(namespace), name)
    except NotFoundError:
        return None
    if not isinstance(found, IcebergTable):
        raise NotSupportedError(f"{'.'.join(key)} is not an Iceberg table, so Spark can't read it by name")
    return found


def head_of(table: IcebergTable) -> Snapshot | None:
    return table.handle.metadata.current_snapshot()


def branch_of(attempt: str) -> str:
    """Returns the branch of an attempt, which is a run in one process: a resumed run is a new attempt."""
    return f"{_BRANCH}{attempt}"


def make_branch(session: Session, key: Key, table: IcebergTable, attempt: str) -> int | None:
    """Creates a branch for one run at the table's current snapshot and removes branches of earlier runs. Returns the
    snapshot; None if the catalog does not support branches."""
    head = head_of(table)
    assert head is not None
    transaction = begin(table)
    for name in table.handle.metadata.refs:
        if name.startswith(_BRANCH) and name != branch_of(attempt):
            transaction._apply((removed(name),), ())
    set_ref(transaction, branch_of(attempt), new_ref(head.snapshot_id, SnapshotRefType.BRANCH))
    hold_snapshot(transaction)
    commit(transaction, _place(session, key), key[-1])
    made = table_of(session, key)
    return head.snapshot_id if made is not None and branch_of(attempt) in made.handle.metadata.refs else None


def publish(session: Session, key: Key, attempt: str, expected: int, properties: Mapping[str, str]) -> None:
    """Moves the table to the branch of the run and removes the branch. Raises CommitConflict if the table has changed
    since `expected`."""
    table = table_of(session, key)
    assert table is not None
    transaction = begin(table)
    metadata = table.handle.metadata
    branch = metadata.refs[branch_of(attempt)]
    if metadata.current_snapshot_id != expected:
        raise CommitConflict(
            f"{'.'.join(key)} was changed by another writer while it was made: it is left as they made it. Run again."
        )
    changed = {k: v for k, v in properties.items() if metadata.properties.get(k) != v}
    if changed:
        transaction.set_properties(changed)
    main = metadata.refs[MAIN_BRANCH].model_copy(update={"snapshot_id": branch.snapshot_id})
    set_ref(transaction, MAIN_BRANCH, main)
    transaction._apply((removed(branch_of(attempt)),), ())
    commit(transaction, _place(session, key), key[-1])


def abandon(session: Session, key: Key, attempt: str) -> None:
    """Removes the branch of a run."""
    _remove(session, key, branch_of(attempt))


def sweep(session: Session, key: Key) -> None:
    """Removes the unpublished branches of all runs."""
    _remove(session, key, _BRANCH)


def _remove(session: Session, key: Key, beginning: str) -> None:
    with suppress(NotFoundError):
        table = table_of(session, key)
        gone = [] if table is None else [name for name in table.handle.metadata.refs if name.startswith(beginning)]
        if table is not None and gone:
            transaction = begin(table)
            for name in gone:
                transaction._apply((removed(name),), ())
            commit(transaction, _place(session, key), key[-1])


def _place(session: Session, key: Key) -> ResolvedNamespace:
    return ResolvedNamespace(session.catalogs.get(key[0]), tuple(key[1:-1]))


def make_namespace(session: Session, key: Key) -> None:
    """Creates the namespace of a table, if it does not exist."""
    levels = [quote(part) for part in key[:-1]]
    session.run(f"CREATE SCHEMA IF NOT EXISTS {'.'.join(levels)}").read_all()


def since(metadata: TableMetadata, position: int) -> list[Snapshot] | None:
    """Returns the snapshots after `position`, oldest first; None if `position` is not in the table's history."""
    found: list[Snapshot] = []
    for snapshot in ancestors(metadata, metadata.current_snapshot_id):
        if snapshot.snapshot_id == position:
            return found[::-1]
        found.append(snapshot)
    return None
