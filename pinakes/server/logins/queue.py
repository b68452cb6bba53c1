"""The queue for password checks: each takes a processor and 64 MB, so few run concurrently.

Origins are served round-robin, so one that sends a thousand logins delays another by one check. Users who have logged
in from their address before come first and have a reserved slot.
"""

from __future__ import annotations

import threading
from collections import Counter, OrderedDict, deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

AT_ONCE = 4
"""Maximum number of concurrent password checks."""
RESERVED = 1
"""Slots of these that are reserved for origins with an earlier login."""
PER_ORIGIN = 2
WAITING = 256
"""Maximum number of waiting logins; each holds a thread. One more evicts the newest login of the origin with most
waiting."""
PATIENCE = 30.0
"""Maximum seconds that a login waits."""


class QueueFull(Exception):
    """There is no free slot: the queue is full, the wait timed out, or the caller does not wait."""


@dataclass(frozen=True, slots=True)
class Origin:
    """The unit of fair scheduling. `is_proved`: this user has logged in from this address before."""

    address: str
    user: str = ""
    is_proved: bool = False


@dataclass(eq=False, slots=True)
class _Waiter:
    decided: threading.Event = field(default_factory=threading.Event)
    is_admitted: bool = False


class LoginQueue:
    """A thread-safe queue, fair between origins."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: Counter[Origin] = Counter()
        self._waiting: OrderedDict[Origin, deque[_Waiter]] = OrderedDict()

    @property
    def waiting(self) -> int:
        with self._lock:
            return self._count()

    @contextmanager
    def slot(self, origin: Origin, *, waits: bool = True) -> Iterator[None]:
        """Holds a slot for the block. Raises QueueFull if none becomes free, or with `waits=False` if none is free
        now."""
        self._enter(origin, waits=waits)
        try:
            yield
        finally:
            with self._lock:
                self._running[origin] -= 1
                if not self._running[origin]:
                    del self._running[origin]
                self._admit()

    def _enter(self, origin: Origin, *, waits: bool) -> None:
        with self._lock:
            if not self._waiting.get(origin) and self._has_room(origin):
                self._running[origin] += 1
                return
            if not waits:
                raise QueueFull
            waiter = _Waiter()
            self._waiting.setdefault(origin, deque()).append(waiter)
            if self._count() > WAITING:
                longest = max(self._waiting, key=lambda o: (not o.is_proved, len(self._waiting[o])))
                self._waiting[longest].pop().decided.set()
                self._forget_empty(longest)
        waiter.decided.wait(PATIENCE)
        with self._lock:
            if waiter.is_admitted:
                return
            if waiter in self._waiting.get(origin, ()):
                self._waiting[origin].remove(waiter)
                self._forget_empty(origin)
        raise QueueFull

    def _has_room(self, origin: Origin) -> bool:
        most = AT_ONCE if origin.is_proved else AT_ONCE - RESERVED
        return self._running.total() < most and self._running[origin] < PER_ORIGIN

    def _admit(self) -> None:
        """Assigns free slots to waiting logins: proved origins first, then round-robin between origins."""
        while origin := next(
            (o for o in sorted(self._waiting, key=lambda o: not o.is_proved) if self._has_room(o)), None
        ):
            waiter = self._waiting[origin].popleft()
            self._waiting.move_to_end(origin)
            self._forget_empty(origin)
            self._running[origin] += 1
            waiter.is_admitted = True
            waiter.decided.set()

    def _forget_empty(self, origin: Origin) -> None:
        if not self._waiting[origin]:
            del self._waiting[origin]

    def _count(self) -> int:
        return sum(map(len, self._waiting.values()))
