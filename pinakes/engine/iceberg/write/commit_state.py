"""A commit whose answer was lost: whether it happened is found out by looking at the table."""

from __future__ import annotations

import logging
import time

from pyiceberg.exceptions import CommitStateUnknownException, NoSuchTableError
from pyiceberg.table import Table, Transaction
from pyiceberg.table.update import AddSnapshotUpdate

from pinakes.core.errors import CommitUnknown

log = logging.getLogger(__name__)

LOOKS = (0.0, 0.2, 1.0)
"""Seconds to wait before each look: the catalog may just be restarting, and the commit may still be on its way."""

_SILENCE = frozenset({"HTTPClientError", "TTransportException"})
"""What the clients of Glue and of a Hive metastore raise when nobody answers, by name, since they may be missing."""


def may_be_live(error: BaseException | None) -> bool:
    """Whether the files of a change that ended so may be part of the table: nobody said, or an interrupt came from
    outside (KeyboardInterrupt, SystemExit), wherever the commit was by then."""
    return isinstance(error, CommitUnknown) or (error is not None and not isinstance(error, Exception))


def is_silence(error: Exception) -> bool:
    """Whether an error leaves open if the catalog heard what it was told."""
    if isinstance(error, CommitStateUnknownException | ConnectionError | TimeoutError):
        return True
    return any(kind.__name__ in _SILENCE for kind in type(error).__mro__)


def has_landed(transaction: Transaction, error: Exception) -> bool:
    """Whether the snapshots that the transaction makes are in the table, after an error. False means that this is not
    known if nobody answered: they may come yet, so their files must stay."""
    for wait in LOOKS if is_silence(error) else LOOKS[:1]:
        time.sleep(wait)
        now = _look(transaction._table)
        if now is not None and holds(now, transaction):
            transaction._table.metadata, transaction._table.metadata_location = now.metadata, now.metadata_location
            return True
    return False


def holds(table: Table, transaction: Transaction) -> bool:
    """Whether a table has all snapshots of a transaction; a change of columns or properties alone can't be told from
    the same one by somebody else."""
    ids = [update.snapshot.snapshot_id for update in transaction._updates if isinstance(update, AddSnapshotUpdate)]
    return bool(ids) and all(table.metadata.snapshot_by_id(number) is not None for number in ids)


def _look(table: Table) -> Table | None:
    try:
        found: Table = table.catalog.load_table(table.name())
    except NoSuchTableError:
        return None  # it was to be made by the commit
    except Exception as error:  # noqa: BLE001 - whatever it is: the error of the commit itself is the one to tell
        log.debug("could not look whether a commit to %s happened: %s", ".".join(table.name()), error)
        return None
    return found
