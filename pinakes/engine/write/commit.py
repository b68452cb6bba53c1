"""One commit per statement, and what must be forgotten after it."""

from __future__ import annotations

import logging
import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from pyiceberg.table import CreateTableTransaction, Transaction
from pyiceberg.table.refs import MAIN_BRANCH
from pyiceberg.table.update import AssertCurrentSchemaId, AssertRefSnapshotId

from pinakes.caches.catalog import forget_table
from pinakes.core.errors import CommitConflict, CommitUnknown
from pinakes.engine.places import Found, Place
from pinakes.providers.iceberg import translated

Answer = TypeVar("Answer")

ATTEMPTS = 8
"""How often a change that reads what it replaces is done anew when the table changed under it."""


def _for_debugging(record: logging.LogRecord) -> bool:
    """A commit that is tried again because someone else was faster is no concern of a user, who may have no logging at
    all and would find it on stderr."""
    if "retrying" in str(record.msg):
        record.levelno, record.levelname = logging.DEBUG, "DEBUG"
    return logging.getLogger(record.name).isEnabledFor(record.levelno)


logging.getLogger("pyiceberg.table").addFilter(_for_debugging)


def commit(transaction: Transaction, place: Place, name: str) -> None:
    """Make the transaction's changes visible, all or none; no session reads the old state from a cache afterwards."""
    try:
        with translated("table", place.namespace, name):
            transaction.commit_transaction()
    finally:
        forget_table(place.mount.catalog, place.namespace, name)


@contextmanager
def abandoned_on_error(transaction: CreateTableTransaction) -> Iterator[None]:
    """A catalog that had to take the name of a table before its first row gets it back when the rows don't come."""
    try:
        yield
    except CommitUnknown:
        raise
    except BaseException:
        abandon = getattr(transaction, "abandon", None)
        if abandon is not None:
            abandon()
        raise


def hold_schema(transaction: Transaction) -> None:
    """The commit fails if the table's columns have changed: the rows were made for those of now."""
    schema = transaction.table_metadata.current_schema_id
    transaction._apply((), (AssertCurrentSchemaId.model_validate({"current-schema-id": schema}),))


def hold_snapshot(transaction: Transaction) -> None:
    """The commit fails if the table's rows have changed: the change depends on those of now."""
    snapshot = transaction.table_metadata.current_snapshot_id
    wanted = {"ref": MAIN_BRANCH, "snapshot-id": snapshot}
    transaction._apply((), (AssertRefSnapshotId.model_validate(wanted),))


def again(change: Callable[[], Answer], found: Found) -> Answer:
    """Carry out a change that reads what it replaces; when someone else was faster, read again and redo it."""
    for attempt in range(ATTEMPTS - 1):
        try:
            return change()
        except CommitConflict:
            forget_table(found.place.mount.catalog, found.place.namespace, found.name)
            time.sleep(random.uniform(0, 0.02 * 2**attempt))  # so that two who collided do not collide again
    return change()
