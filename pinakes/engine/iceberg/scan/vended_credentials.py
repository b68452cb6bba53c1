"""Renewal of vended credentials, which expire.

Only the credentials are renewed. The table stays at the snapshot that the statement has loaded.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from pyiceberg.io import FileIO

from pinakes.core.catalog import IcebergTable
from pinakes.core.errors import PinakesError
from pinakes.providers.iceberg.adapter import translate_errors

_ENDS = "s3.session-token-expires-at-ms"
_KEYS = ("s3.access-key-id", "s3.secret-access-key", "s3.session-token")
SOON = 60.0
"""Credentials that expire within this many seconds are renewed before use."""


def renew_if_ending(table: IcebergTable, clock: Callable[[], float] = time.time) -> None:
    """Replaces credentials that are about to expire with new ones from the catalog."""
    ends = str(table.handle.io.properties.get(_ENDS) or "")
    if ends.isascii() and ends.isdecimal() and len(ends) < 18 and int(ends) / 1000 < clock() + SOON:
        _renew(table)


def renew_if_refused(table: IcebergTable) -> bool:
    """Renews credentials that a store has refused; returns whether they changed."""
    before = _keys(table.handle.io)
    try:
        _renew(table)
    except PinakesError:
        return False  # the store's error is reported
    return _keys(table.handle.io) != before


def _renew(table: IcebergTable) -> None:
    handle = table.handle
    with translate_errors("table", table.namespace, table.name):
        handle.io = handle.catalog.load_table(handle.name()).io


def _keys(io: FileIO) -> tuple[str | None, ...]:
    return tuple(io.properties.get(key) for key in _KEYS)
