"""One commit per statement, and what must be forgotten after it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from pyiceberg.table import Transaction

from pinakes.caches.catalog import forget_table
from pinakes.core.errors import CommitConflict
from pinakes.engine.resolver import Found, Place
from pinakes.providers.iceberg import translated

Answer = TypeVar("Answer")

ATTEMPTS = 5
"""How often a change that reads what it replaces is done anew when the table changed under it."""


def commit(transaction: Transaction, place: Place, name: str) -> None:
    """Make the transaction's changes visible, all or none; no session reads the old state from a cache afterwards."""
    try:
        with translated("table", place.namespace, name):
            transaction.commit_transaction()
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
