"""The registry of objects that clients refer to by an opaque handle: pending results, prepared statements, connections.
Each belongs to the user who got the handle. It expires when it has not been used for a while, and the number is
limited. A busy object counts as used."""

from __future__ import annotations

import logging
import secrets
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Generic, NamedTuple, Protocol, TypeVar

log = logging.getLogger(__name__)

Clock = Callable[[], float]


class UnknownHandle(Exception):
    """The handle was never issued to this user, or has expired."""


class Closable(Protocol):
    @property
    def user(self) -> str: ...

    def close(self) -> None: ...


T = TypeVar("T", bound=Closable)


class _Held(NamedTuple, Generic[T]):
    thing: T
    used: float
    born: float


class HandleRegistry(Generic[T]):
    """A thread-safe registry. `what` names an object in errors; `age` is the maximum number of seconds since its last
    use, `lifetime` since it was added (0: no limit). A busy object does not expire."""

    def __init__(
        self,
        what: str,
        age: float,
        most: int,
        busy: Callable[[T], bool] = lambda _: False,
        clock: Clock = time.monotonic,
        *,
        lifetime: float = 0.0,
    ) -> None:
        self._what, self._age, self._most, self._busy, self._clock = what, age, most, busy, clock
        self._lifetime = lifetime
        self._lock = threading.Lock()
        self._held: dict[bytes, _Held[T]] = {}

    def __len__(self) -> int:
        return len(self._held)

    def count(self, user: str) -> int:
        """Returns the number of objects of a user."""
        with self._lock:
            return sum(held.thing.user == user for held in self._held.values())

    def put(self, thing: T, handle: bytes | None = None) -> bytes:
        """Adds an object and returns its handle, which is random. When the registry is full, evicts an object of the
        user who holds most."""
        handle = handle or secrets.token_bytes(16)
        dropped: list[T] = []
        with self._lock:
            if len(self._held) >= self._most:
                dropped = [self._held.pop(self._least_needed()).thing]
            self._held[handle] = _Held(thing, self._clock(), self._clock())
        self._close(dropped)
        return handle

    def _least_needed(self) -> bytes:
        """Returns the handle to evict: the least recently used of the user who holds most, so that one user can't evict
        the objects of others. A busy object is evicted only if all are busy."""
        counts = Counter(held.thing.user for held in self._held.values())
        most = max(counts.values())
        theirs = [(h, held.thing) for h, held in self._held.items() if counts[held.thing.user] == most]
        idle = (handle for handle, thing in theirs if not self._busy(thing))
        others = (handle for handle, held in self._held.items() if not self._busy(held.thing))
        return next(idle, None) or next(others, None) or theirs[0][0]

    def find(self, handle: bytes, user: str) -> T | None:
        """Returns the object and marks it as used; None if it is unknown or belongs to another user, without a
        distinction."""
        with self._lock:
            found = self._held.pop(handle, None)
            if found is None:
                return None
            is_theirs = found.thing.user == user
            self._held[handle] = found._replace(used=self._clock()) if is_theirs else found
        return found.thing if is_theirs else None

    def owner(self, handle: bytes) -> str | None:
        """Returns the user of a handle; None if it is unknown."""
        with self._lock:
            found = self._held.get(handle)
        return None if found is None else found.thing.user

    def get(self, handle: bytes, user: str) -> T:
        found = self.find(handle, user)
        if found is None:
            raise self.unknown()
        return found

    def take(self, handle: bytes, user: str) -> T | None:
        """Removes and returns the object; None if it is unknown or belongs to another user."""
        with self._lock:
            found = self._held.get(handle)
            if found is None or found.thing.user != user:
                return None
            del self._held[handle]
        return found.thing

    def drop_oldest(self, user: str, may: Callable[[T], bool]) -> bool:
        """Closes the user's least recently used object that `may` accepts; returns whether there was one."""
        with self._lock:
            mine = (h for h, held in self._held.items() if held.thing.user == user and may(held.thing))
            oldest = next(mine, None)
            dropped = [self._held.pop(oldest).thing] if oldest is not None else []
        self._close(dropped)
        return bool(dropped)

    def all(self) -> list[T]:
        with self._lock:
            return [held.thing for held in self._held.values()]

    def unknown(self) -> UnknownHandle:
        return UnknownHandle(
            f"NOT_FOUND: unknown {self._what}: it was closed, consumed, unused for {self._age / 60:g} minutes, or "
            f"belongs to another server"
        )

    def sweep(self) -> None:
        """Closes expired objects."""
        now = self._clock()
        dropped: list[T] = []
        with self._lock:
            for handle in [handle for handle, held in self._held.items() if self._is_over(held, now)]:
                held = self._held.pop(handle)
                if self._busy(held.thing):
                    self._held[handle] = held._replace(used=now)
                else:
                    dropped.append(held.thing)
        self._close(dropped)

    def remove_all(self, belongs: Callable[[T], bool] = lambda _: True) -> None:
        """Closes all objects, or those that `belongs` accepts."""
        with self._lock:
            over = [handle for handle, held in self._held.items() if belongs(held.thing)]
            dropped = [self._held.pop(handle).thing for handle in over]
        self._close(dropped)

    def _is_over(self, held: _Held[T], now: float) -> bool:
        return now - held.used > self._age or (self._lifetime > 0 and now - held.born > self._lifetime)

    def _close(self, dropped: Iterable[T]) -> None:
        """Closes each object and logs failures: a session that rolls back calls its catalogs, which may fail."""
        for thing in dropped:
            try:
                thing.close()
            except Exception:
                log.exception("a %s could not be closed", self._what)
