"""One commit per statement, and what must be forgotten after it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from pyiceberg.exceptions import CommitFailedException, CommitStateUnknownException, ValidationException
from pyiceberg.table import Transaction

from pinakes.caches.catalog import forget_table
from pinakes.core.errors import CommitConflict, CommitUnknown
from pinakes.core.names import display
from pinakes.engine.resolver import Found, Place

Answer = TypeVar("Answer")

ATTEMPTS = 5
"""How often a change that reads what it replaces is done anew when the table changed under it."""


def commit(transaction: Transaction, place: Place, name: str) -> None:
    """Make the transaction's changes visible, all or none; no session reads the old state from a cache afterwards."""
    shown = display(place.mount.name, place.namespace, name)
    try:
        transaction.commit_transaction()
    except (CommitFailedException, ValidationException) as error:
        message = f"{shown} was changed by someone else at the same time; run the statement again"
        raise CommitConflict(message) from error
    except CommitStateUnknownException as error:
        message = f"the catalog did not say whether the change of {shown} happened; look before you repeat it"
        raise CommitUnknown(message) from error
    finally:
        forget_table(place.mount.catalog, place.namespace, name)


def again(change: Callable[[], Answer], found: Found) -> Answer:
    """Carry out a change that reads what it replaces; when someone else was faster, read again and redo it."""
    for _ in range(ATTEMPTS - 1):
        try:
            return change()
        except CommitConflict:
            forget_table(found.place.mount.catalog, found.place.namespace, found.name)
    return change()
