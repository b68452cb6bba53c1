"""Bytes both ways over file descriptors (pipes, sockets), with a deadline and a way to give up; a file to pyarrow."""

from __future__ import annotations

import os
import select
import time
from collections.abc import Callable

import pyarrow as pa

from pinakes.worker.exceptions import Damaged, WorkerDied, WorkerTimeout

_LARGEST = 2**31 - 1
"""Bytes of one message. Who asks for more has read its length from something else."""
_MARK = b"\xff\xff\xff\xff"
"""How every message of Arrow's begins."""
_BUFFERED = 1 << 16
_GLANCE = 0.1
"""Seconds between two looks whether anybody still waits."""


class Channel:
    """`patient` is a side that waits for as long as it takes: a worker for its next request."""

    closed = False

    def __init__(self, reading: int, writing: int, *, patient: bool = False) -> None:
        self._reading, self._writing = reading, writing
        self._patient = patient
        self._pending = bytearray()
        self.deadline: float | None = None
        self.check: Callable[[], None] | None = None
        """Raises when nobody waits any more."""
        self.fresh = True
        """Nothing of a next message was read yet."""
        self.ended = False
        """The other side has closed its end."""
        if not patient:
            os.set_blocking(reading, False)
            os.set_blocking(writing, False)

    def within(self, seconds: float | None, check: Callable[[], None] | None = None) -> None:
        """What follows must be done in so many seconds."""
        self.deadline = None if seconds is None else time.monotonic() + seconds
        self.check = check

    def has_news(self) -> bool:
        """Whether something can be read, or the other side has hung up."""
        poll = select.poll()
        poll.register(self._reading, select.POLLIN)
        return bool(poll.poll(0))

    # --- what pyarrow asks of a file ------------------------------------------------------------------------------

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
        """Exactly so many bytes; fewer only at the end."""
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
        """pyarrow closes what it read or wrote: the channel stays."""

    def hang_up(self) -> None:
        """Close both ends."""
        for fd in {self._reading, self._writing} - {-1}:
            os.close(fd)
        self._reading = self._writing = -1

    # --- how -----------------------------------------------------------------------------------------------------

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
