"""The memory that all caches of an engine may take together. Who was used longest ago gives way, in whichever cache."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Protocol

ROOM = 0.9
"""What is left after some had to go, as a share of the limit: so that it is not done for each entry anew."""


class Member(Protocol):
    """A cache, as the budget sees it."""

    @property
    def nbytes(self) -> int: ...

    def uses(self) -> Iterator[tuple[int, object]]:
        """When each entry was last used (a number that only grows), and its key."""
        ...

    def give_way(self, key: object, used: int) -> int:
        """Forget an entry that was last used then; the bytes that this gave."""
        ...


class Budget:
    """`limit` may be changed at any time. Caches call `settle` when they stored something, holding no lock."""

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
        """Make room if the caches have grown beyond the limit; one thread does it, the others need not wait."""
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
