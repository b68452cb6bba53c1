"""Cancellable waits: a cancelled statement abandons a call to a catalog that does not respond.

Python does not interrupt a thread that waits for a socket. So the call runs in another thread, and the statement's
thread polls for cancellation. An abandoned call is broken off if it has registered how (`BREAKS`): a host that sends a
byte now and then would keep the thread for ever. For reads only: the statement must know the outcome of a change.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextvars import ContextVar, copy_context
from typing import TypeVar

T = TypeVar("T")

CHECK: ContextVar[Callable[[], None] | None] = ContextVar("check", default=None)
"""Raises when the current statement is cancelled."""
_GLANCE = 0.1


class Breaks:
    """Breaks off a call that runs in another thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._ways: list[Callable[[], None]] = []
        self._is_left = False

    def add(self, way: Callable[[], None]) -> None:
        """ConnectionError when the call was left already: it must not begin anything."""
        with self._lock:
            if self._is_left:
                raise ConnectionError("the call was abandoned")
            self._ways.append(way)

    def leave(self) -> None:
        with self._lock:
            self._is_left = True
        for way in self._ways:
            way()


BREAKS: ContextVar[Breaks | None] = ContextVar("breaks", default=None)
"""Of the call that runs here."""


def waited(call: Callable[[], T]) -> T:
    """Returns or raises the outcome of `call`, or raises the exception of CHECK if that comes first."""
    check = CHECK.get()
    if check is None:
        return call()
    check()
    answer: list[T] = []
    failure: list[BaseException] = []
    done, breaks = threading.Event(), Breaks()

    def run() -> None:
        BREAKS.set(breaks)
        try:
            answer.append(call())
        except BaseException as error:  # noqa: BLE001 - raised again in the waiting thread
            failure.append(error)
        finally:
            done.set()

    threading.Thread(target=copy_context().run, args=(run,), name="pinakes-waited", daemon=True).start()
    try:
        while not done.wait(_GLANCE):
            check()
    except BaseException:
        breaks.leave()
        raise
    if failure:
        raise failure.pop()
    return answer.pop()
