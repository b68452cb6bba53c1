"""Checks whether a commit with a lost response happened, by looking at the table."""

from __future__ import annotations

import logging
import time

from pyiceberg.exceptions import CommitStateUnknownException, NoSuchTableError
from pyiceberg.table import Table, Transaction
from pyiceberg.table.update import AddSnapshotUpdate

from pinakes.core.errors import CommitUnknown

log = logging.getLogger(__name__)

LOOKS = (0.0, 0.2, 1.0)
"""Seconds to wait before each check: the catalog may be restarting, and the commit may still be in progress."""

_SILENCE = frozenset({"HTTPClientError", "TTransportException"})
"""Exceptions of the Glue and Hive clients for a missing response; by name, since the libraries may not be installed."""


def may_be_live(error: BaseException | None) -> bool:
    """Returns whether the files of a failed change may be part of the table: the commit's state is unknown, or an
    interrupt (KeyboardInterrupt, SystemExit) came at an unknown point.
    """
    return isinstance(error, CommitUnknown) or (error is not None and not isinstance(error, Exception))


def is_silence(error: Exception) -> bool:
    """Returns whether an error leaves open if the catalog has received the request."""
    if isinstance(error, CommitStateUnknownException | ConnectionError | TimeoutError):
        return True
    return any(kind.__name__ in _SILENCE for kind in type(error).__mro__)


def has_landed(transaction: Transaction, error: Exception) -> bool:
    """Returns whether the snapshots of the transaction are in the table after an error.

    If the catalog did not respond, False means unknown: the commit may still happen, so the files must stay.
    """
    for wait in LOOKS if is_silence(error) else LOOKS[:1]:
        time.sleep(wait)
        now = _look(transaction._table)
        if now is not None and holds(now, transaction):
            transaction._table.metadata, transaction._table.metadata_location = now.metadata, now.metadata_location
            return True
    return False


def holds(table: Table, transaction: Transaction) -> bool:
    """Returns whether a table has all snapshots of a transaction. Changes of only columns or properties are not
    recognised.
    """
    ids = [update.snapshot.snapshot_id for update in transaction._updates if isinstance(update, AddSnapshotUpdate)]
    return bool(ids) and all(table.metadata.snapshot_by_id(number) is not None for number in ids)


def _look(table: Table) -> Table | None:
    try:
        found: Table = table.catalog.load_table(table.name())
    except NoSuchTableError:
        return None  # the commit was to create it
    except Exception as error:  # noqa: BLE001 - whatever it is: the error of the commit is the one to report
        log.debug("could not determine whether a commit to %s took effect: %s", ".".join(table.name()), error)
        return None
    return found
