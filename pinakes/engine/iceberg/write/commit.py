"""One commit per statement: compare-and-set, tried again where that is safe, and what must be forgotten after it.

A commit that finds the table changed is re-applied to what it is now: appended files are appended to that; replaced
files are replaced there if nothing that the change read is different (`producers.py`). What can't be re-applied is a
CommitConflict, upon which `again` redoes the statement from its reading. A commit whose answer was lost is looked for
in the table: the ids of its snapshots are known. Files that may be live are never removed.
"""

from __future__ import annotations

import logging
import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from pyiceberg.exceptions import CommitFailedException, CommitStateUnknownException, ValidationException
from pyiceberg.table import CreateTableTransaction, TableProperties, Transaction
from pyiceberg.table.refs import MAIN_BRANCH
from pyiceberg.table.update import (
    AddSnapshotUpdate,
    AssertCurrentSchemaId,
    AssertDefaultSpecId,
    AssertRefSnapshotId,
    AssertTableUUID,
    SetSnapshotRefUpdate,
)
from pyiceberg.utils.properties import property_as_int

from pinakes.caches.catalog import forget_table
from pinakes.core.catalog import IcebergTable
from pinakes.core.errors import CommitConflict, CommitUnknown
from pinakes.engine.binding.namespaces import Found, Place
from pinakes.engine.iceberg.write import snapshot_properties as author
from pinakes.engine.iceberg.write.commit_lock import turn
from pinakes.engine.iceberg.write.commit_state import has_landed, holds, is_silence
from pinakes.engine.iceberg.write.pending import Pending
from pinakes.providers.iceberg import translated

log = logging.getLogger(__name__)

Answer = TypeVar("Answer")

ATTEMPTS = 12
"""How often a change that reads what it replaces is done anew when the table changed under it."""

RETRIES = 100
"""How often a commit is re-applied, unless the table's commit.retry.num-retries says it; an append always can be."""
FIRST_WAIT, LONGEST_WAIT = 0.005, 0.5
"""Seconds between two attempts: chosen at random up to a bound that doubles, so that two who collided do not collide
again."""


def begin(table: IcebergTable) -> Transaction:
    """A change of a table, to be committed."""
    return Pending(table.handle)


def commit(transaction: Transaction, place: Place, name: str) -> None:
    """Make the transaction's changes visible, all or none; no session reads the old state from a cache afterwards."""
    _sign(transaction)
    try:
        with translated("table", place.namespace, name):
            _land(transaction)
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
    """The commit fails if the table's columns or partitioning have changed: the files were made for those of now."""
    metadata = transaction.table_metadata
    schema = AssertCurrentSchemaId.model_validate({"current-schema-id": metadata.current_schema_id})
    spec = AssertDefaultSpecId.model_validate({"default-spec-id": metadata.default_spec_id})
    transaction._apply((), (schema, spec))


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
            _pause(attempt)
    try:
        return change()
    except CommitConflict as error:
        raise CommitConflict(
            f"{found} was changed by others each of the {ATTEMPTS} times that the statement was carried out, so it "
            f"changed nothing (serialization failure). Run it again when there is less going on. {error.message}"
        ) from error


# --- how -----------------------------------------------------------------------------------------------------------


def _sign(transaction: Transaction) -> None:
    """Say in the summaries of the new snapshots, also when they are made anew, whose they are."""
    properties = author.properties()
    for update in transaction._updates:
        if isinstance(update, AddSnapshotUpdate) and update.snapshot.summary is not None:
            for key, value in properties.items():
                update.snapshot.summary[key] = value
    for producer in transaction._snapshot_producers:
        producer.snapshot_properties = {**producer.snapshot_properties, **properties}


def _land(transaction: Transaction) -> None:
    try:
        if isinstance(transaction, CreateTableTransaction):
            transaction.commit_transaction()
            return
        with turn(transaction._table):
            _attempts(transaction)
    except (CommitFailedException, ValidationException):
        for producer in transaction._snapshot_producers:
            producer._clean_all_uncommitted()
        raise
    except Exception as error:
        if has_landed(transaction, error):
            return
        if is_silence(error):
            raise CommitStateUnknownException(str(error)) from error
        raise


def _attempts(transaction: Transaction) -> None:
    if not transaction._updates:
        return
    table = transaction._table
    transaction._requirements += (AssertTableUUID.model_validate({"uuid": table.metadata.table_uuid}),)
    retries = property_as_int(table.metadata.properties, TableProperties.COMMIT_NUM_RETRIES, RETRIES) or 0
    for attempt in range(retries + 1):
        try:
            _compare_and_set(transaction)
            break
        except CommitFailedException:
            table.refresh()
            if holds(table, transaction):
                break  # an earlier attempt did happen, whatever was said of it
            if attempt == retries or not _can_be_reapplied(transaction):
                raise
            _check_held(transaction)
        _pause(attempt)
        transaction._rebuild_snapshot_updates()
    for producer in transaction._snapshot_producers:
        producer._cleanup_uncommitted()


def _compare_and_set(transaction: Transaction) -> None:
    """Once it is done, nothing may fail any more: whoever sees an error takes it that nothing has happened."""
    table, before = transaction._table, transaction._table.metadata
    done = table.catalog.commit_table(table, transaction._requirements, transaction._updates)
    table.metadata, table.metadata_location = done.metadata, done.metadata_location
    try:
        table.catalog._delete_old_metadata(table.io, before, done.metadata)
    except Exception as error:  # noqa: BLE001 - of whatever kind: the commit has happened
        log.warning("could not remove old metadata files of %s: %s", ".".join(table.name()), error)


def _can_be_reapplied(transaction: Transaction) -> bool:
    """Whether it only adds snapshots, which their producers can make anew."""
    alone = all(isinstance(update, AddSnapshotUpdate | SetSnapshotRefUpdate) for update in transaction._updates)
    return alone and bool(transaction._snapshot_producers)


def _check_held(transaction: Transaction) -> None:
    """What the change depends on besides rows is still so; else no further attempt helps."""
    for requirement in transaction._requirements:
        if not isinstance(requirement, AssertRefSnapshotId):
            requirement.validate(transaction._table.metadata)


def _pause(attempt: int) -> None:
    time.sleep(random.uniform(0, min(LONGEST_WAIT, FIRST_WAIT * 2 ** min(attempt, 10))))
