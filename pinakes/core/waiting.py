"""Cancellable waits: a cancelled statement abandons a call to a catalog that does not respond.

Python does not interrupt a thread that waits for a socket. So the call runs in another thread, and the statement's
thread polls for cancellation. An abandoned call ends when its socket does. For reads only: the statement must know the
outcome of a change.
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


def waited(call: Callable[[], T]) -> T:
    """Returns or raises the outcome of `call`, or raises the exception of CHECK if that comes first."""
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
        except BaseException as error:  # noqa: BLE001 - raised again in the waiting thread
            failure.append(error)
        finally:
            done.set()

    threading.Thread(target=copy_context().run, args=(run,), name="pinakes-waited", daemon=True).start()
    while not done.wait(_GLANCE):
        check()
    if failure:
        raise failure.pop()
    return answer.pop()
