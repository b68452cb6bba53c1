"""The memory budget shared by all caches of an engine. The least recently used entries are evicted first, across all
caches.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Protocol

ROOM = 0.9
"""The share of the limit that remains after an eviction, so that not every new entry triggers another one."""


class Member(Protocol):
    """The interface of a cache to the budget."""

    @property
    def nbytes(self) -> int: ...

    def uses(self) -> Iterator[tuple[int, object]]:
        """Yields when each entry was last used (an increasing number), and its key."""
        ...

    def give_way(self, key: object, used: int) -> int:
        """Evicts an entry, unless it was used since. Returns the freed bytes."""
        ...


class Budget:
    """The budget. `limit` may be changed at any time. Caches call `settle` after they stored something, without holding
    a lock.
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._members: list[Member] = []
        self._lock = threading.Lock()

    def join(self, member: Member) -> None:
        self._members.append(member)

    @property
    def nbytes(self) -> int:
        return sum(member.nbytes for member in self._members)

    def settle(self) -> None:
        """Evicts entries if the caches exceed the limit. One thread does this; the others do not wait."""
        if self.nbytes <= self.limit or not self._lock.acquire(blocking=False):
            return
        try:
            over = self.nbytes - int(self.limit * ROOM)
            uses = [(used, member, key) for member in self._members for used, key in member.uses()]
            for used, member, key in sorted(uses, key=lambda use: use[0]):
                if over <= 0:
                    break
                over -= member.give_way(key, used)
        finally:
            self._lock.release()
