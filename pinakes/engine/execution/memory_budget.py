"""The memory that a server uses for its clients besides running statements, with a limit per user and in total.

It counts what is kept between calls (prepared statements with their parameters, unfetched results) and what calls
bring with them (texts, parameters, rows to ingest). The sizes are those of the values themselves or estimates.
"""

from __future__ import annotations

import threading
from collections import Counter, deque
from types import TracebackType

from pinakes.core.errors import ServerBusy


class MemoryBudget:
    """Thread-safe."""

    def __init__(self, per_user: int, total: int) -> None:
        self.per_user, self.total = per_user, total
        self._lock = threading.Lock()
        self._used: Counter[str] = Counter()
        self._dropped: deque[tuple[str, int]] = deque()
        """Those that were not released, from the garbage collector, which may run while the lock is held."""

    def reserve(self, user: str, size: int = 0) -> Reservation:
        """Reserves some bytes for a user; raises ServerBusy if they are more than are left."""
        made = Reservation(self, user)
        made.grow(size)
        return made

    def used(self) -> dict[str, int]:
        """Returns the bytes that are reserved for each user."""
        with self._lock:
            self._settle()
            return dict(self._used)

    def drop(self, user: str, size: int) -> None:
        self._dropped.append((user, size))

    def change(self, reservation: Reservation, by: int | None) -> None:
        """Adds some bytes to a reservation, or releases all of them (None). `Reservation` calls this."""
        user = reservation.user
        with self._lock:
            self._settle()
            by = -reservation.size if by is None else by
            if by > 0:
                self._check(user, by)
            reservation.size += by
            self._add(user, by)

    def _settle(self) -> None:
        while self._dropped:
            user, size = self._dropped.popleft()
            self._add(user, -size)

    def _add(self, user: str, by: int) -> None:
        self._used[user] += by
        if not self._used[user]:
            del self._used[user]

    def _check(self, user: str, size: int) -> None:
        for used, limit, name, whose in (
            (self._used[user], self.per_user, "client_memory_per_user", "this user"),
            (self._used.total(), self.total, "client_memory", "all users"),
        ):
            if used + size > limit:
                raise ServerBusy(
                    f"{size:,} more bytes for prepared statements, parameters, unfetched results and messages of "
                    f"{whose} exceed the limit {name} ({limit:,} bytes, {used:,} in use): close prepared statements, "
                    f"fetch results, or send less at once"
                )


class Reservation:
    """Bytes that are reserved for a user until they are released; a context manager."""

    __slots__ = ("_budget", "size", "user")

    def __init__(self, budget: MemoryBudget, user: str, size: int = 0) -> None:
        self._budget, self.user, self.size = budget, user, size

    def grow(self, by: int) -> None:
        """Raises ServerBusy, and changes nothing, if fewer are left."""
        self._budget.change(self, by)

    def release(self) -> None:
        self._budget.change(self, None)

    def take(self) -> Reservation:
        """Returns another reservation of these bytes, which this one has no longer."""
        taken, self.size = Reservation(self._budget, self.user, self.size), 0
        return taken

    def __del__(self) -> None:
        if self.size:
            self._budget.drop(self.user, self.size)

    def __enter__(self) -> Reservation:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()
