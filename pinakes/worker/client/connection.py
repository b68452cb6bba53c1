"""A connection to a worker: calls, and streams (`pipe_stream.py`). One at a time; `pool.py` has several."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Protocol

import pyarrow as pa

from pinakes.worker.channel import Channel
from pinakes.worker.client.pipe_stream import PipeStream
from pinakes.worker.client.told import note_logs, read_header
from pinakes.worker.exceptions import Damaged, ProtocolError, RemoteError, WorkerDied, WorkerError
from pinakes.worker.wire.messages import read_answer, request_bytes
from pinakes.worker.wire.methods import METHODS

Check = Callable[[], None]
CALL_SECONDS = 60.0
"""How long an answer may take, unless the caller says otherwise."""


class Stream(Protocol):
    """A stream that runs: rows that come, or answers to rows that are sent."""

    header: dict[str, Any]

    def batches(self) -> Iterator[pa.RecordBatch]: ...

    def exchange(self, batch: pa.RecordBatch) -> pa.RecordBatch: ...

    def close(self) -> None:
        """Wants no more; once more does nothing."""
        ...


class Connection(Protocol):
    alive: bool
    """Whether it can be used once more."""

    def call(
        self,
        method: str,
        values: Mapping[str, Any],
        *,
        timeout: float | None = CALL_SECONDS,
        check: Check | None = None,
    ) -> bytes | None: ...

    def stream(
        self, request: bytes, schema: pa.Schema, *, timeout: float | None = CALL_SECONDS, check: Check | None = None
    ) -> Stream:
        """Call `init`; `schema` is that of the batches that will be sent, and has no fields if none will."""
        ...

    def is_idle(self) -> bool:
        """Whether it is there, and silent, as one that nobody uses should be."""
        ...

    def close(self) -> None: ...


class PipeConnection:
    """Over a channel. `obituary` tells what is known of a worker that does not answer any more, `end` ends it."""

    def __init__(self, channel: Channel, obituary: Callable[[], str], end: Callable[[], None]) -> None:
        self.channel = channel
        self._obituary = obituary
        self._end = end
        self.alive = True
        self.answered = False
        """Whether anything was heard from the worker so far."""
        self.grace = 0.0
        """Seconds that the first answer may take longer: a program has to start."""
        self.file = pa.PythonFile(channel, "r")
        self.sink = pa.PythonFile(channel, "w")

    def call(
        self,
        method: str,
        values: Mapping[str, Any],
        *,
        timeout: float | None = CALL_SECONDS,
        check: Check | None = None,
    ) -> bytes | None:
        kind = METHODS[method]
        with self.guarded(method, timeout, check):
            self.send(request_bytes(kind, values))
            value, logs = read_answer(self.file, kind)
        note_logs(logs)
        return value

    def stream(
        self, request: bytes, schema: pa.Schema, *, timeout: float | None = CALL_SECONDS, check: Check | None = None
    ) -> PipeStream:
        with self.guarded("init", timeout, check):
            self.send(request_bytes(METHODS["init"], {"request": request}))
            header = read_header(self.file)
        return PipeStream(self, header, schema, timeout, check)

    def is_idle(self) -> bool:
        return self.alive and not self.channel.has_news()

    def send(self, data: bytes) -> None:
        self.channel.write(data)
        self.channel.flush()

    def guarded(self, what: str, timeout: float | None, check: Check | None) -> _Guarded:
        return _Guarded(self, what, timeout, check)

    def died(self, what: str) -> WorkerDied:
        self.close()
        words = self._obituary()
        error = WorkerDied(f"the worker ended while {what} ran{f': {words}' if words else ''}")
        error.unheard = self.answered and self.channel.fresh
        return error

    def close(self) -> None:
        if self.alive:
            self.alive = False
            self._end()
            self.channel.hang_up()


class _Guarded:
    """What is said over a connection within: whatever goes wrong in it, the connection is of no more use, unless the
    worker itself told of the error."""

    __slots__ = ("_check", "_connection", "_timeout", "_what")

    def __init__(self, connection: PipeConnection, what: str, timeout: float | None, check: Check | None) -> None:
        self._connection, self._what, self._timeout, self._check = connection, what, timeout, check

    def __enter__(self) -> None:
        if not self._connection.alive:
            raise WorkerDied("the connection is closed")
        self._connection.channel.fresh = True
        grace, self._connection.grace = self._connection.grace, 0.0
        self._connection.channel.within(None if self._timeout is None else self._timeout + grace, self._check)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: Any) -> None:
        connection = self._connection
        if error is None and connection.channel.ended:
            # Arrow takes the end of the bytes for the end of a stream: what a worker had still to say would be lost.
            raise connection.died(self._what)
        if error is None or isinstance(error, RemoteError):
            connection.answered = True
            return
        hung_up = isinstance(error, Damaged) and connection.channel.fresh
        if hung_up or isinstance(error, WorkerDied):
            raise connection.died(self._what) from error
        if isinstance(error, Damaged) and (words := _ended(connection)):
            raise WorkerDied(f"the worker ended while {self._what} ran: {words}") from error
        connection.close()
        if isinstance(error, WorkerError) and not isinstance(error, ProtocolError):
            raise type(error)(f"{self._what}: {error}") from error


def _ended(connection: PipeConnection) -> str:
    """The last words of a worker that ended in the middle of a message; empty for one that still runs."""
    return connection._obituary() if connection.channel.ended else ""
