"""Waits that are given up when nobody wants to know any more: a statement that is stopped leaves a catalog that hangs.

Python does not interrupt a thread that waits for a socket. So the call runs in a thread beside, and the statement's own
looks now and then whether it is to stop. What it leaves behind is broken off, where the call has said how: a host that
sends a byte now and then would keep the thread for ever. Only for what reads: of a change, the statement must know what
became of it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextvars import ContextVar, copy_context
from typing import TypeVar

T = TypeVar("T")

CHECK: ContextVar[Callable[[], None] | None] = ContextVar("check", default=None)
"""Raises when the statement that runs here is to stop."""
_GLANCE = 0.1


class Breaks:
    """How a call that runs beside is broken off."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._ways: list[Callable[[], None]] = []
        self._is_left = False

    def add(self, way: Callable[[], None]) -> None:
        """ConnectionError when the call was left already: it must not begin anything."""
        with self._lock:
            if self._is_left:
                raise ConnectionError("nobody waits for the answer any more")
            self._ways.append(way)

    def leave(self) -> None:
        with self._lock:
            self._is_left = True
        for way in self._ways:
            way()


BREAKS: ContextVar[Breaks | None] = ContextVar("breaks", default=None)
"""Of the call that runs here."""


def waited(call: Callable[[], T]) -> T:
    """What `call` returns or raises, or what CHECK raises meanwhile."""
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
        except BaseException as error:  # noqa: BLE001 - it is raised where it is waited for
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
