"""Commits of Iceberg tables: one per statement, by compare-and-set, with retries where these are safe.

A commit that finds the table changed is re-applied to the current state: appended files are appended to it; replaced
files are replaced if nothing that the change has read is different (`producers.py`). Otherwise it raises
CommitConflict, and `again` repeats the statement including its reads. If the response of a commit is lost, the table is
checked for the ids of its snapshots. Files that may be live are never removed.
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

from pinakes.caches.caching_catalog import forget_table
from pinakes.core.catalog import IcebergTable
from pinakes.core.errors import CommitConflict, CommitUnknown
from pinakes.core.iceberg_metadata import checks_of
from pinakes.engine.binding.namespaces import ResolvedNamespace, ResolvedTable
from pinakes.engine.iceberg.scan.widths import UNKNOWN_ROWS, WIDEST_ROW, are_known, widest_row
from pinakes.engine.iceberg.write import snapshot_properties as author
from pinakes.engine.iceberg.write.commit_lock import turn
from pinakes.engine.iceberg.write.commit_state import has_landed, holds, is_silence
from pinakes.engine.iceberg.write.pending import Pending
from pinakes.providers.iceberg.adapter import translate_errors

log = logging.getLogger(__name__)

Answer = TypeVar("Answer")

ATTEMPTS = 12
"""The maximum number of attempts of a change that reads what it replaces."""

RETRIES = 100
"""The number of times a commit is re-applied, unless the table sets commit.retry.num-retries. Appends always can be."""
FIRST_WAIT, LONGEST_WAIT = 0.005, 0.5
"""Bounds of the wait between attempts in seconds: random, up to a limit that doubles each time, to avoid repeated
collisions.
"""


def begin(table: IcebergTable) -> Transaction:
    """Starts a transaction on a table."""
    return Pending(table.handle)


def commit(transaction: Transaction, place: ResolvedNamespace, name: str) -> None:
    """Commits the transaction atomically, and removes the table's old state from the catalog's caches."""
    _sign(transaction)
    try:
        with translate_errors("table", place.namespace, name):
            _land(transaction)
    finally:
        forget_table(place.mount.catalog, place.namespace, name)


@contextmanager
def abandoned_on_error(transaction: CreateTableTransaction) -> Iterator[None]:
    """Releases the name of a new table on error, for catalogs that had to reserve it before the first row."""
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
    """Makes the commit fail if the table's columns or partitioning have changed, since the files were written for
    them.
    """
    metadata = transaction.table_metadata
    schema = AssertCurrentSchemaId.model_validate({"current-schema-id": metadata.current_schema_id})
    spec = AssertDefaultSpecId.model_validate({"default-spec-id": metadata.default_spec_id})
    transaction._apply((), (schema, spec))


def hold_snapshot(transaction: Transaction) -> None:
    """Makes the commit fail if the table's rows have changed, since the change depends on them."""
    snapshot = transaction.table_metadata.current_snapshot_id
    wanted = {"ref": MAIN_BRANCH, "snapshot-id": snapshot}
    transaction._apply((), (AssertRefSnapshotId.model_validate(wanted),))


def again(change: Callable[[], Answer], found: ResolvedTable) -> Answer:
    """Runs a change that reads what it replaces; on a conflict, reads again and retries."""
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


# --- commit attempts -----------------------------------------------------------------------------------------------


def _sign(transaction: Transaction) -> None:
    """Adds the author's properties to the summaries of the new snapshots, including rebuilt ones."""
    properties = author.properties()
    width = widest_row(transaction.table_metadata)
    if width:
        properties[WIDEST_ROW] = str(width)
    new = {update.snapshot.snapshot_id for update in transaction._updates if isinstance(update, AddSnapshotUpdate)}
    if not are_known(s for s in transaction.table_metadata.snapshots if s.snapshot_id not in new):
        properties[UNKNOWN_ROWS] = "true"
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
    checks = checks_of(table.metadata.properties)
    retries = property_as_int(table.metadata.properties, TableProperties.COMMIT_NUM_RETRIES, RETRIES) or 0
    for attempt in range(retries + 1):
        try:
            _compare_and_set(transaction)
            break
        except CommitFailedException:
            table.refresh()
            if holds(table, transaction):
                break  # an earlier attempt succeeded despite its error
            if attempt == retries or not _can_be_reapplied(transaction):
                raise
            _check_held(transaction)
            if checks_of(table.metadata.properties) != checks:
                raise  # the new rows were checked by others
        _pause(attempt)
        transaction._rebuild_snapshot_updates()
    for producer in transaction._snapshot_producers:
        producer._cleanup_uncommitted()


def _compare_and_set(transaction: Transaction) -> None:
    """Commits once. After the commit nothing may fail: an error would mean that nothing was changed."""
    table, before = transaction._table, transaction._table.metadata
    done = table.catalog.commit_table(table, transaction._requirements, transaction._updates)
    table.metadata, table.metadata_location = done.metadata, done.metadata_location
    try:
        table.catalog._delete_old_metadata(table.io, before, done.metadata)
    except Exception as error:  # noqa: BLE001 - of whatever kind: the commit has happened
        log.warning("could not remove old metadata files of %s: %s", ".".join(table.name()), error)


def _can_be_reapplied(transaction: Transaction) -> bool:
    """Returns whether the transaction only adds snapshots, which their producers can rebuild."""
    alone = all(isinstance(update, AddSnapshotUpdate | SetSnapshotRefUpdate) for update in transaction._updates)
    return alone and bool(transaction._snapshot_producers)


def _check_held(transaction: Transaction) -> None:
    """Fails if a requirement other than the snapshot no longer holds; no further attempt would help."""
    for requirement in transaction._requirements:
        if not isinstance(requirement, AssertRefSnapshotId):
            requirement.validate(transaction._table.metadata)


def _pause(attempt: int) -> None:
    time.sleep(random.uniform(0, min(LONGEST_WAIT, FIRST_WAIT * 2 ** min(attempt, 10))))
