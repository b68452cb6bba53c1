"""A byte channel over file descriptors (pipes, sockets), with a deadline and cancellation; a file object for
pyarrow.
"""

from __future__ import annotations

import os
import select
import time
from collections.abc import Callable

import pyarrow as pa

from pinakes.worker.exceptions import Damaged, WorkerDied, WorkerTimeout

_LARGEST = 2**31 - 1
"""The maximum size of a message in bytes. A larger length was read from data that is not of the protocol."""
_MARK = b"\xff\xff\xff\xff"
"""The first bytes of every Arrow message."""
_BUFFERED = 1 << 16
_GLANCE = 0.1
"""Seconds between two checks for cancellation."""


class Channel:
    """A channel. With `patient`, it blocks without a deadline, as a worker does that waits for its next request."""

    closed = False

    def __init__(self, reading: int, writing: int, *, patient: bool = False) -> None:
        self._reading, self._writing = reading, writing
        self._patient = patient
        self._pending = bytearray()
        self.deadline: float | None = None
        self.check: Callable[[], None] | None = None
        """Raises when the request was cancelled."""
        self.fresh = True
        """Whether nothing of the next message was read yet."""
        self.ended = False
        """Whether the other side has closed its end."""
        if not patient:
            os.set_blocking(reading, False)
            os.set_blocking(writing, False)

    def within(self, seconds: float | None, check: Callable[[], None] | None = None) -> None:
        """Sets the deadline of the following operations, in seconds from now."""
        self.deadline = None if seconds is None else time.monotonic() + seconds
        self.check = check

    def has_news(self) -> bool:
        """Whether data can be read, or the other side has closed the connection."""
        poll = select.poll()
        poll.register(self._reading, select.POLLIN)
        return bool(poll.poll(0))

    # --- the file interface for pyarrow ---------------------------------------------------------------------------

    def readable(self) -> bool:
        return True

    def writable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return False

    def tell(self) -> int:
        return 0

    def read(self, size: int) -> bytes:
        begins = self.fresh
        found = bytes(memoryview(self.read_buffer(size))) if size else b""
        if begins and size == len(_MARK) == len(found) and found != _MARK:
            raise Damaged(f"what came begins with {found!r}, as no message does")
        return found

    def read_buffer(self, size: int) -> pa.Buffer:
        """Reads exactly this many bytes; fewer only at the end."""
        if size > _LARGEST:
            raise Damaged(f"a message of {size} bytes can't be: something else than the protocol was read")
        buffer = pa.allocate_buffer(size)
        view = memoryview(buffer).cast("B")
        got = 0
        while got < size:
            count = self._some(view[got:])
            if count == 0:
                self.ended = True
                break
            got += count
        self.fresh = self.fresh and got == 0
        return buffer if got == size else buffer.slice(0, got)

    def write(self, data: bytes | pa.Buffer) -> int:
        view = memoryview(data).cast("B")
        if len(self._pending) + len(view) <= _BUFFERED:
            self._pending += view
        else:
            self.flush()
            self._send(view)
        return len(view)

    def flush(self) -> None:
        if self._pending:
            pending, self._pending = self._pending, bytearray()
            self._send(memoryview(pending))

    def close(self) -> None:
        """Does nothing: pyarrow closes its files, but the channel stays open."""

    def hang_up(self) -> None:
        """Closes both ends."""
        for fd in {self._reading, self._writing} - {-1}:
            os.close(fd)
        self._reading = self._writing = -1

    # --- internals -----------------------------------------------------------------------------------------------

    def _some(self, view: memoryview) -> int:
        while True:
            try:
                return os.readv(self._reading, [view])
            except BlockingIOError:
                self._wait(self._reading, select.POLLIN)
            except OSError as error:
                raise WorkerDied(f"the connection broke: {error.strerror or error}") from error

    def _send(self, view: memoryview) -> None:
        at = 0
        while at < len(view):
            try:
                at += os.write(self._writing, view[at:])
            except BlockingIOError:
                self._wait(self._writing, select.POLLOUT)
            except OSError as error:
                raise WorkerDied(f"the connection broke: {error.strerror or error}") from error

    def _wait(self, fd: int, event: int) -> None:
        poll = select.poll()
        poll.register(fd, event)
        while True:
            left = _GLANCE if self.deadline is None else min(_GLANCE, self.deadline - time.monotonic())
            if self.check is not None:
                self.check()
            if left <= 0:
                raise WorkerTimeout("no answer in time")
            if poll.poll(max(1, int(left * 1000))):
                return
