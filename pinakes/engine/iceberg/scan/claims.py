"""Which bucket the keys of object stores are of: what keeps the footers of two buckets apart.

DataFusion remembers footers and statistics by key alone, whatever bucket and store it is of, and takes a file of the
same size and time for the same file. Where two buckets have keys in common, those that a session meets second are not
read natively.
"""

from __future__ import annotations

import threading

MOST = 100_000
"""Prefixes that are remembered in a session; files below any other are not read natively."""


class Claims:
    """Those of one session: each has footers of its own."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._places: dict[str, str] = {}

    def claim(self, prefix: str, place: str) -> bool:
        """Whether what is below a prefix is, in this session, only ever of this place."""
        with self._lock:
            if self._places.get(prefix) == place:
                return True
            others = (p for p, of in self._places.items() if of != place)
            if len(self._places) >= MOST or any(p.startswith(prefix) or prefix.startswith(p) for p in others):
                return False
            self._places[prefix] = place
            return True
