"""Stopping a thread that waits in native code: another thread raises an exception in it.

DataFusion's blocking calls come back to Python about once a second while they wait, and an exception that was set with
`PyThreadState_SetAsyncExc` surfaces there. It may surface at any other point as well, so the guarded call is a function
that `run` calls and not a `with` block: on the way into `__exit__` no code of ours would be in charge, and it would
leave the block. In `run`, every step from registering to deregistering stands within one `try`.

What makes it exact: an interrupt is sent under the lock, and only to a thread that is registered; deregistering takes
the same lock and withdraws an interrupt that was sent and has not surfaced. One that surfaces where Python drops
exceptions (in `__del__`, or what is called when a weak reference dies) is lost; so it is sent again, after a time that
is far longer than the way out of a guarded call takes, while the thread is still registered. Python would print that it
dropped one, with a traceback: that is left out (`hiding`).
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, TypeVar

from pinakes.engine.datafusion.error_translation import is_panic

if TYPE_CHECKING:
    from sys import UnraisableHookArgs as Unraisable

T = TypeVar("T")

RESEND_SECONDS = 2.0
"""Seconds after which an interrupt is taken for lost."""


class Interrupt(BaseException):
    """Raised in the waiting thread. It never leaves `Interrupts.run`."""


class Interrupted(Exception):
    """The call was stopped, or not begun; the owner of the `Interrupts` knows why."""


class Interrupts:
    """The threads that run guarded calls for one query, and whether they are to stop."""

    __slots__ = ("_lock", "_sent", "stopped")

    def __init__(self) -> None:
        self._lock = threading.RLock()  # a signal handler may call `stop` while its own thread holds it
        self._sent: dict[int, bool] = {}
        """The registered threads, and whether an interrupt was sent to each."""
        self.stopped = False

    def stop(self) -> None:
        """Interrupt every guarded call that runs, and refuse those to come. Never blocks for long, never raises."""
        with self._lock:
            if not self.stopped:
                self.stopped = True
                _hide_dropped()
                self._send()

    def _send(self) -> None:
        with self._lock:
            for thread in self._sent:
                self._sent[thread] = True
                _raise_in(thread, Interrupt)
            if self._sent:
                resend = threading.Timer(RESEND_SECONDS, self._send)
                resend.daemon = True
                resend.start()

    def run(self, call: Callable[[], T]) -> T:
        """What `call` returns or raises; `Interrupted` when it was stopped meanwhile or before."""
        me = threading.get_ident()
        if me in self._sent:  # within another guarded call already
            return call()
        try:
            try:
                with self._lock:
                    self._sent[me] = False
                    if self.stopped:
                        raise Interrupted
                return call()
            finally:
                self._deregister(me)
        except Interrupt:
            self._deregister(me)  # it may have surfaced in `finally`
        except Interrupted:
            pass
        except BaseException as error:  # native code may wrap the interrupt into an error of its own, or panic
            if not self.stopped or not (isinstance(error, Exception) or is_panic(error)):
                raise
        # Raised out here and not in place of another error: the frames that were interrupted may hold what is to end.
        raise Interrupted

    def _deregister(self, me: int) -> None:
        with self._lock:
            if self._sent.pop(me, False):
                _raise_in(me, None)


@cache
def _hide_dropped() -> None:
    """Set once: hooks that are set later are called first."""
    sys.unraisablehook = hiding(sys.unraisablehook)


def hiding(inner: Callable[[Unraisable], object]) -> Callable[[Unraisable], object]:
    """A hook that ignores interrupts which Python dropped, and passes everything else on."""

    def hook(dropped: Unraisable, /) -> object:
        return None if issubclass(dropped.exc_type, Interrupt) else inner(dropped)

    return hook


def _raise_in(thread: int, kind: type[BaseException] | None) -> None:
    """Set the exception that surfaces next in a thread; None withdraws one that has not surfaced."""
    import ctypes  # only a query that is stopped pays for loading it

    target = ctypes.py_object(kind) if kind is not None else ctypes.py_object()
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), target)
