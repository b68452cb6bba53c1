"""Admission: a server runs a limited number of statements at a time; others wait in a queue.

The queue is round-robin over users, and by age within a user, so that a user with a thousand statements delays others
by one only. Statements that read no table, or one system table, do not wait (`engine/execution/queue_bypass.py`). A
statement holds its slot until its last row is read or its result is closed or dropped: unread rows take memory, too.
"""

from __future__ import annotations

import threading
import time
from collections import Counter, OrderedDict, deque
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from pinakes.config.serving import StatementLimits
from pinakes.core.errors import ServerBusy

if TYPE_CHECKING:
    from pinakes.engine.execution.query import Query

GLANCE = 0.05
"""Seconds after which one who waits looks whether they were stopped."""


class Turn:
    """The place of one statement in the queue."""

    __slots__ = ("came", "user")

    def __init__(self, user: str) -> None:
        self.user = user
        self.came = threading.Event()


class Crowd(NamedTuple):
    """How many there are at this moment."""

    running: int
    queued: int


class Admission:
    """`clock` measures the time in the queue."""

    def __init__(self, limits: StatementLimits, clock: Callable[[], float] = time.monotonic) -> None:
        self.limits = limits
        self.refused = 0
        self._clock = clock
        self._lock = threading.Lock()
        self._running: Counter[str] = Counter()
        self._waiting: OrderedDict[str, deque[Turn]] = OrderedDict()
        """The queue of each waiting user; the user who is next is first."""
        self._left: deque[str] = deque()
        """Users of statements that have ended: see `leave`."""

    def crowd(self) -> Crowd:
        with self._lock:
            found = Crowd(self._running.total(), sum(map(len, self._waiting.values())))
        self._settle()
        return found

    def enter(self, query: Query) -> None:
        """Wait until it may begin; ServerBusy when too many wait, or it waited for too long."""
        turn = Turn(query.user)
        with self._lock:
            self._come(turn)
        self._settle()
        if not turn.came.is_set():
            self._wait(query, turn)
        query.on_release = lambda: self.leave(query.user)

    def leave(self, user: str) -> None:
        """A statement has ended. The garbage collector may call this at any moment, also while this thread holds the
        lock; then the next thread that takes the lock, or waits, frees the slot."""
        self._left.append(user)
        self._settle()

    def _come(self, turn: Turn) -> None:
        """Begin, or stand in the queue."""
        self._make_room()
        if not self._waiting and self._has_room(turn.user):
            self._begin(turn)
            return
        self._check_queue(turn.user)
        self._waiting.setdefault(turn.user, deque()).append(turn)
        self._call()  # one may have room although others, whose user has too many already, wait

    def _wait(self, query: Query, turn: Turn) -> None:
        query.queue()
        since, most = self._clock(), self.limits.queue_time
        try:
            while not turn.came.wait(GLANCE):
                query.check()
                self._settle()
                if most and self._clock() - since >= most:
                    raise self._too_long(most)
            query.check()
        except BaseException:
            self._give_up(turn)
            raise

    def _give_up(self, turn: Turn) -> None:
        with self._lock:
            waiting = self._waiting.get(turn.user)
            if turn.came.is_set():  # its turn came in this very moment
                self._left.append(turn.user)
            elif waiting is not None:
                waiting.remove(turn)
                if not waiting:
                    del self._waiting[turn.user]
        self._settle()

    def _settle(self) -> None:
        while self._left and self._lock.acquire(blocking=False):
            try:
                self._make_room()
                self._call()
            finally:
                self._lock.release()

    def _make_room(self) -> None:
        while self._left:
            user = self._left.popleft()
            self._running[user] -= 1
            if not self._running[user]:
                del self._running[user]

    def _call(self) -> None:
        """Admit the next statements, while there are free slots."""
        while (user := next((u for u in self._waiting if self._has_room(u)), None)) is not None:
            waiting = self._waiting[user]
            self._begin(waiting.popleft())
            self._waiting.move_to_end(user)
            if not waiting:
                del self._waiting[user]

    def _begin(self, turn: Turn) -> None:
        self._running[turn.user] += 1
        turn.came.set()

    def _has_room(self, user: str) -> bool:
        return self._running.total() < self.limits.running and self._running[user] < self.limits.running_per_user

    def _check_queue(self, user: str) -> None:
        mine, limits = len(self._waiting.get(user, ())), self.limits
        if mine >= limits.queued_per_user:
            raise self._refusal(f"{mine} statements of yours wait already, the most that may (queued_per_user)")
        if (everybodys := sum(map(len, self._waiting.values()))) >= limits.queued:
            raise self._refusal(f"{everybodys} statements wait already, the most that may (queued)")

    def _too_long(self, seconds: float) -> ServerBusy:
        return self._refusal(f"the statement waited {seconds:g} s for its turn, the longest that one may (queue_time)")

    def _refusal(self, why: str) -> ServerBusy:
        self.refused += 1
        return ServerBusy(
            f"{why}. Nothing was done. Try again later, read or close the results that you hold, or have "
            f"[server.statements] of the configuration changed."
        )
