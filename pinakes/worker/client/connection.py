"""A connection to a worker: calls and streams (`pipe_stream.py`), one at a time; `pool.py` has several connections."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Protocol

import pyarrow as pa

from pinakes.worker.channel import Channel
from pinakes.worker.client.pipe_stream import PipeStream
from pinakes.worker.client.response_metadata import note_logs, read_header
from pinakes.worker.exceptions import Damaged, ProtocolError, RemoteError, WorkerDied, WorkerError
from pinakes.worker.wire.messages import read_answer, request_bytes
from pinakes.worker.wire.methods import METHODS

Check = Callable[[], None]
CALL_SECONDS = 60.0
"""The default timeout of a response in seconds."""


class Stream(Protocol):
    """A running stream: rows that arrive, or responses to rows that are sent."""

    header: dict[str, Any]

    def batches(self) -> Iterator[pa.RecordBatch]: ...

    def exchange(self, batch: pa.RecordBatch) -> pa.RecordBatch: ...

    def close(self) -> None:
        """Ends the stream. Repeated calls have no effect."""
        ...


class Connection(Protocol):
    alive: bool
    """Whether the connection can be used again."""

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
        """Calls `init`; `schema` is that of the batches that will be sent, and has no fields if none are sent."""
        ...

    def is_idle(self) -> bool:
        """Whether the connection is open and silent, as an idle one should be."""
        ...

    def close(self) -> None: ...


class PipeConnection:
    """A connection over a channel. `obituary` describes how a worker ended, `end` ends it."""

    def __init__(self, channel: Channel, obituary: Callable[[], str], end: Callable[[], None]) -> None:
        self.channel = channel
        self._obituary = obituary
        self._end = end
        self.alive = True
        self.answered = False
        """Whether the worker has responded at least once."""
        self.grace = 0.0
        """Additional seconds for the first response: a program has to start."""
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
    """A context manager for an exchange on a connection: any error in it closes the connection, unless the worker
    itself reported the error.
    """

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
            # Arrow treats the end of the data as the end of a stream: the rest of the worker's response would be lost.
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
    """Returns the description of how a worker ended in the middle of a message; empty if it still runs."""
    return connection._obituary() if connection.channel.ended else ""
