"""Verifies a multi-table commit: looks for its snapshots in the tables.

Iceberg's own REST adapter, on which servers are built, can report success although a concurrent change caused one of
the changes to be dropped. The response to a commit of one table has the new metadata; that of several tables is empty.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from pyiceberg.exceptions import CommitStateUnknownException
from pyiceberg.table.update import AddSnapshotUpdate

from pinakes.core.catalog import TableChange

if TYPE_CHECKING:
    from pyiceberg.catalog import Catalog

log = logging.getLogger(__name__)


def check_landed(catalog: Catalog, changes: Sequence[TableChange]) -> None:
    """Raises CommitStateUnknownException if a table lacks a committed snapshot."""
    lacking = [".".join(change.table.name()) for change in changes if _lacks(catalog, change)]
    if lacking:
        raise CommitStateUnknownException(
            f"the server said that it was, and its changes are not in {', '.join(lacking)}: somebody else changed that "
            f"at the same time"
        )


def _lacks(catalog: Catalog, change: TableChange) -> bool:
    ids = list(_snapshots(change))
    if not ids:
        return False
    try:
        metadata = catalog.load_table(change.table.name()).metadata
    except Exception as error:  # noqa: BLE001 - any error: the server's response is then all there is
        log.warning("could not determine whether a transaction is in %s: %s", ".".join(change.table.name()), error)
        return False
    return any(metadata.snapshot_by_id(number) is None for number in ids)


def _snapshots(change: TableChange) -> Iterator[int]:
    return (update.snapshot.snapshot_id for update in change.updates if isinstance(update, AddSnapshotUpdate))
