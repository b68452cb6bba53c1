"""Waits that are given up when nobody wants to know any more: a statement that is stopped leaves a catalog that hangs.

Python does not interrupt a thread that waits for a socket. So the call runs in a thread beside, and the statement's own
looks now and then whether it is to stop. What it leaves behind ends when the socket does. Only for what reads: of a
change, the statement must know what became of it.
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


def waited(call: Callable[[], T]) -> T:
    """What `call` returns or raises, or what CHECK raises meanwhile."""
    check = CHECK.get()
    if check is None:
        return call()
    check()
    answer: list[T] = []
    failure: list[BaseException] = []
    done = threading.Event()

    def run() -> None:
        try:
            answer.append(call())
        except BaseException as error:  # noqa: BLE001 - it is raised where it is waited for
            failure.append(error)
        finally:
            done.set()

    threading.Thread(target=copy_context().run, args=(run,), name="pinakes-waited", daemon=True).start()
    while not done.wait(_GLANCE):
        check()
    if failure:
        raise failure.pop()
    return answer.pop()
