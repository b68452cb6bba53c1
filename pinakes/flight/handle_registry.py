"""Things that clients hold by an opaque handle: parked results, prepared statements, connections. Each belongs to the
user who got the handle, is forgotten when nobody used it for a while, and there are only so many. What is busy counts
as used until it is not.
"""

from __future__ import annotations

import logging
import secrets
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Generic, NamedTuple, Protocol, TypeVar

from pinakes.flight.errors import NotThere

log = logging.getLogger(__name__)

Clock = Callable[[], float]


class Closable(Protocol):
    @property
    def user(self) -> str: ...

    def close(self) -> None: ...


T = TypeVar("T", bound=Closable)


class _Held(NamedTuple, Generic[T]):
    thing: T
    used: float
    born: float


class Expiring(Generic[T]):
    """Thread-safe. `what` names one of them in errors; `age` is in seconds since its last use, `lifetime` since it was
    made, and 0 is for ever. What is `busy` is in use, and outlives both until it is not."""

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
        """How many are a user's."""
        with self._lock:
            return sum(held.thing.user == user for held in self._held.values())

    def put(self, thing: T, handle: bytes | None = None) -> bytes:
        """Hold it; its handle, which can't be guessed. When there are too many, one of the user who holds most goes."""
        handle = handle or secrets.token_bytes(16)
        dropped: list[T] = []
        with self._lock:
            if len(self._held) >= self._most:
                dropped = [self._held.pop(self._least_needed()).thing]
            self._held[handle] = _Held(thing, self._clock(), self._clock())
        self._close(dropped)
        return handle

    def _least_needed(self) -> bytes:
        """Of the user who holds most: else one could push out what others hold. The one that was not used for longest,
        and one that is busy only if all are."""
        counts = Counter(held.thing.user for held in self._held.values())
        most = max(counts.values())
        theirs = [(h, held.thing) for h, held in self._held.items() if counts[held.thing.user] == most]
        idle = (handle for handle, thing in theirs if not self._busy(thing))
        others = (handle for handle, held in self._held.items() if not self._busy(held.thing))
        return next(idle, None) or next(others, None) or theirs[0][0]

    def find(self, handle: bytes, user: str) -> T | None:
        """It, used now; None when it is not there, or somebody else's, which nobody is told."""
        with self._lock:
            found = self._held.pop(handle, None)
            if found is None:
                return None
            is_theirs = found.thing.user == user
            self._held[handle] = found._replace(used=self._clock()) if is_theirs else found
        return found.thing if is_theirs else None

    def owner(self, handle: bytes) -> str | None:
        """Whose it is; None when it is not there."""
        with self._lock:
            found = self._held.get(handle)
        return None if found is None else found.thing.user

    def get(self, handle: bytes, user: str) -> T:
        found = self.find(handle, user)
        if found is None:
            raise NotThere(self.unknown())
        return found

    def take(self, handle: bytes, user: str) -> T | None:
        """It, for who alone has it from now on."""
        with self._lock:
            found = self._held.get(handle)
            if found is None or found.thing.user != user:
                return None
            del self._held[handle]
        return found.thing

    def drop_oldest(self, user: str, may: Callable[[T], bool]) -> bool:
        """Close the one of a user's that may go and was not used for longest; whether there was one."""
        with self._lock:
            mine = (h for h, held in self._held.items() if held.thing.user == user and may(held.thing))
            oldest = next(mine, None)
            dropped = [self._held.pop(oldest).thing] if oldest is not None else []
        self._close(dropped)
        return bool(dropped)

    def all(self) -> list[T]:
        with self._lock:
            return [held.thing for held in self._held.values()]

    def unknown(self) -> str:
        return (
            f"NOT_FOUND: this server knows no such {self._what}: it was closed, used up, not used for "
            f"{self._age / 60:g} minutes, or never made here"
        )

    def sweep(self) -> None:
        """Close what nobody used for too long, and what is too old."""
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
        """Close all, or some of them."""
        with self._lock:
            over = [handle for handle, held in self._held.items() if belongs(held.thing)]
            dropped = [self._held.pop(handle).thing for handle in over]
        self._close(dropped)

    def _is_over(self, held: _Held[T], now: float) -> bool:
        return now - held.used > self._age or (self._lifetime > 0 and now - held.born > self._lifetime)

    def _close(self, dropped: Iterable[T]) -> None:
        """Each of them, also when another can't be: a session that rolls back asks its catalogs."""
        for thing in dropped:
            try:
                thing.close()
            except Exception:
                log.exception("a %s could not be closed", self._what)
