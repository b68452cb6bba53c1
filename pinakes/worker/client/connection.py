"""A connection to a worker: calls, and streams. One at a time; `pool.py` has several."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Protocol

import pyarrow as pa
from pyarrow import ipc

from pinakes.worker.channel import Channel
from pinakes.worker.exceptions import Damaged, ProtocolError, RemoteError, WorkerDied, WorkerError
from pinakes.worker.wire import protocol
from pinakes.worker.wire.messages import (
    Log,
    Metadata,
    batches_of,
    log_or_error,
    next_of,
    opened,
    read_answer,
    request_bytes,
)
from pinakes.worker.wire.methods import METHODS
from pinakes.worker.wire.records import EMPTY, decode, row_of

LOGGER = logging.getLogger("pinakes.worker.client")
Check = Callable[[], None]
CALL_SECONDS = 60.0
"""How long an answer may take, unless the caller says otherwise."""
_LAST_WORDS = 1.0
"""Seconds in which a worker that was told to stop a stream is to say so."""
_LEVELS = {"DEBUG": logging.DEBUG, "INFO": logging.INFO, "WARN": logging.WARNING, "WARNING": logging.WARNING}
_TICK = pa.RecordBatch.from_arrays([], schema=EMPTY)


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


class PipeStream:
    """A tick is on its way whenever batches are read, so that the worker works while the last one is used."""

    def __init__(
        self,
        connection: PipeConnection,
        header: dict[str, Any],
        schema: pa.Schema,
        timeout: float | None,
        check: Check | None,
    ) -> None:
        self._connection = connection
        self._timeout, self._check = timeout, check
        self.header = header
        self._produces = len(schema) == 0
        self._out = ipc.new_stream(connection.sink, schema)
        self._in: ipc.RecordBatchStreamReader | None = None
        self._over = False

    def batches(self) -> Iterator[pa.RecordBatch]:
        try:
            self._send(_TICK)
            while (batch := self._next()) is not None:
                self._send(_TICK)
                yield batch
        finally:
            self.close()

    def exchange(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        self._send(batch)
        found = self._next()
        if found is None:
            raise ProtocolError("the worker ended a stream that it was to answer in")
        return found

    def close(self) -> None:
        if self._over:
            return
        self._over = True
        connection = self._connection
        if not connection.alive:
            return
        try:
            with connection.guarded("cancel", _LAST_WORDS, None):
                if self._produces:
                    self._out.write_batch(_TICK, custom_metadata={protocol.CANCEL: b"1"})
                self._out.close()
                connection.channel.flush()
                reader = self._in if self._in is not None else opened(connection.file)
                for _ in batches_of(reader):
                    pass
        except WorkerError as error:
            LOGGER.debug("a stream did not end as it was told to: %s", error)

    def _send(self, batch: pa.RecordBatch) -> None:
        with self._connection.guarded("a stream", self._timeout, self._check):
            self._out.write_batch(batch)
            self._connection.channel.flush()

    def _next(self) -> pa.RecordBatch | None:
        with self._connection.guarded("a stream", self._timeout, self._check):
            if self._in is None:
                self._in = opened(self._connection.file)
            while (found := next_of(self._in)) is not None:
                batch, metadata = found
                if protocol.LOG_LEVEL not in metadata:
                    return batch
                self._told(metadata)
            self._finish()
            return None

    def _told(self, metadata: Metadata) -> None:
        told = log_or_error(metadata)
        if isinstance(told, Log):
            note_logs([told])
            return
        assert self._in is not None
        for _ in batches_of(self._in):
            pass
        self._finish()
        raise told

    def _finish(self) -> None:
        """The worker has said all; the connection is free again once it knows that nothing more comes."""
        self._over = True
        self._out.close()
        self._connection.channel.flush()


def read_header(source: Any) -> dict[str, Any]:
    """What stands before a stream. An exception in its place is raised."""
    header: dict[str, Any] | None = None
    error: RemoteError | None = None
    for batch, metadata in batches_of(opened(source)):
        if protocol.LOG_LEVEL in metadata:
            told = log_or_error(metadata)
            error = told if isinstance(told, RemoteError) else error
        elif batch.num_rows:
            header = row_of(batch, "the header of a stream")
    if error is not None:
        raise error
    if header is None:
        raise ProtocolError("a stream has no header")
    return decode(header["result"], "the header of a stream") if set(header) == {"result"} else header


def note_logs(logs: list[Log]) -> None:
    for log in logs:
        LOGGER.log(_LEVELS.get(log.level.upper(), logging.ERROR), "%s", log.message)
