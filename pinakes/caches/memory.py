"""The memory budget shared by all caches of an engine, and estimates of the memory of cached values.

The least recently used entries are evicted first, across all caches. The estimates, for values that do not report their
memory themselves, were measured with `tracemalloc`; memory that libraries allocate outside Python is a rough estimate.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from typing import Protocol

from pinakes.core.catalog import IcebergTable, Table, ViewDefinition

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
    """The budget. `limit` may be changed at any time. Caches call `stored` and `settle` without holding a lock."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._held: dict[Member, int] = {}
        """The bytes of each cache when it stored something last. It may have dropped entries since."""
        self._lock = threading.Lock()

    def join(self, member: Member) -> None:
        self._held[member] = 0

    @property
    def nbytes(self) -> int:
        return sum(member.nbytes for member in self._held)

    def stored(self, member: Member, nbytes: int) -> None:
        """Records that a cache stored something and holds so many bytes now. Evicts entries if that is too much."""
        self._held[member] = nbytes
        if sum(self._held.values()) > self.limit:
            self.settle()

    def settle(self) -> None:
        """Evicts entries if the caches exceed the limit. One thread does this; the others do not wait."""
        if not self._lock.acquire(blocking=False):
            return
        try:
            for member in self._held:
                self._held[member] = member.nbytes
            held = sum(self._held.values())
            if held <= self.limit:
                return
            over = held - int(self.limit * ROOM)
            uses = [(used, member, key) for member in self._held for used, key in member.uses()]
            for used, member, key in sorted(uses, key=lambda use: use[0]):
                if over <= 0:
                    break
                over -= member.give_way(key, used)
        finally:
            self._lock.release()


# --- sizes -------------------------------------------------------------------------------------------------------


CLIENT = 64_000
"""An open catalog: its connections, its properties, the configuration read from its server."""
NOTHING = 500
"""An entry without a value: its key."""
PLAN = 20_000
"""A plan, or a table as a plan reads it, in addition to its text and columns."""
READ = 2_000
"""Added to a plan for each cache entry that it was made from."""

_TABLE, _SNAPSHOT, _COLUMN, _LOGGED = 6_000, 3_000, 1_250, 300
_PER_CHARACTER = 15
"""For each character of a parsed statement's text."""


def size_of_names(value: object) -> int:
    """The size of a listing: strings in tuples."""
    below = sum(size_of_names(one) for one in value) if isinstance(value, tuple) else 0
    return sys.getsizeof(value) + below


def size_of_statement(text: str) -> int:
    return 1_000 + _PER_CHARACTER * len(text)


def size_of_metadata(found: Table | ViewDefinition) -> int:
    """The size of a table or view as described by its catalog."""
    if isinstance(found, ViewDefinition):
        return _TABLE + len(found.sql) + _COLUMN * (0 if found.schema is None else len(found.schema.fields))
    if not isinstance(found, IcebergTable):
        return _TABLE
    metadata = found.handle.metadata
    columns = sum(len(schema.fields) for schema in metadata.schemas)
    logged = len(metadata.snapshot_log) + len(metadata.metadata_log) + len(metadata.properties)
    return _TABLE + _SNAPSHOT * len(metadata.snapshots) + _COLUMN * columns + _LOGGED * logged
