"""Errors of metadata calls: the rows of system.metadata.errors."""

from __future__ import annotations

import threading
from collections import deque
from dataclasses import dataclass, replace
from datetime import datetime

from pinakes.core.identity import Identity

MOST = 1000
"""The maximum number of errors kept, of all users together; the oldest is removed first."""


@dataclass(frozen=True, slots=True)
class Fault:
    at: datetime
    user: str
    fingerprint: str
    """The fingerprint of the token in use: errors of one login are not shown to another of the same name."""
    catalog: str
    schema: str | None
    table: str | None
    operation: str
    code: str
    message: str


class MetadataErrors:
    """The metadata errors of one engine. Thread-safe."""

    def __init__(self, most: int = MOST) -> None:
        self._faults: deque[Fault] = deque(maxlen=most)
        self._lock = threading.Lock()

    def add(self, fault: Fault) -> None:
        with self._lock:
            self._faults.append(fault)

    def of(self, identity: Identity) -> list[Fault]:
        """Returns the errors that this user met, oldest first. Those of other users are not visible: they name catalogs
        that may be private.
        """
        with self._lock:
            faults = list(self._faults)
        met = [f for f in faults if (f.user, f.fingerprint) == (identity.user, identity.fingerprint)]
        if identity.is_admin:
            return met
        from pinakes.core.access.redaction import about

        return [replace(f, message=about(f.code, f.message)) for f in met]
