"""Assigns prefixes of object store keys to buckets, to keep the cached footers of different buckets apart.

DataFusion caches footers and statistics by key only, without bucket and store, and treats files of the same size and
time as equal. If two buckets share keys, the files of the second bucket in a session are not read natively.
"""

from __future__ import annotations

import threading

MOST = 100_000
"""The maximum number of prefixes in a session; files below other prefixes are not read natively."""


class Claims:
    """The claims of one session, which has its own footer cache."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._places: dict[str, str] = {}

    def claim(self, prefix: str, place: str) -> bool:
        """Claims a prefix for a bucket; returns False if another bucket has an overlapping prefix, or there are MOST
        prefixes.
        """
        with self._lock:
            if self._places.get(prefix) == place:
                return True
            others = (p for p, of in self._places.items() if of != place)
            if len(self._places) >= MOST or any(p.startswith(prefix) or prefix.startswith(p) for p in others):
                return False
            self._places[prefix] = place
            return True
