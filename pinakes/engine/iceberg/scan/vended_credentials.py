"""Credentials that a catalog lends with a table: they end, and are then asked for anew.

Only access is renewed. The table stays at the snapshot that the statement found it at.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from pyiceberg.io import FileIO

from pinakes.core.catalog import IcebergTable
from pinakes.core.errors import PinakesError
from pinakes.providers.iceberg import translated

_ENDS = "s3.session-token-expires-at-ms"
_KEYS = ("s3.access-key-id", "s3.secret-access-key", "s3.session-token")
SOON = 60.0
"""Keys that end within so many seconds are renewed before they are used."""


def renew_if_ending(table: IcebergTable, clock: Callable[[], float] = time.time) -> None:
    """Keys that are about to end are replaced by what the catalog lends now."""
    ends = str(table.handle.io.properties.get(_ENDS) or "")
    if ends.isascii() and ends.isdecimal() and len(ends) < 18 and int(ends) / 1000 < clock() + SOON:
        _renew(table)


def renew_if_refused(table: IcebergTable) -> bool:
    """Whether the catalog lends other keys by now than those that a store has refused."""
    before = _keys(table.handle.io)
    try:
        _renew(table)
    except PinakesError:
        return False  # what the store said is what counts
    return _keys(table.handle.io) != before


def _renew(table: IcebergTable) -> None:
    handle = table.handle
    with translated("table", table.namespace, table.name):
        handle.io = handle.catalog.load_table(handle.name()).io


def _keys(io: FileIO) -> tuple[str | None, ...]:
    return tuple(io.properties.get(key) for key in _KEYS)
