"""A stream over a channel: a tick requests each batch, and a cancel message ends it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyarrow import ipc

from pinakes.worker.client.response_metadata import LOGGER, note_logs
from pinakes.worker.exceptions import ProtocolError, WorkerError
from pinakes.worker.wire import protocol
from pinakes.worker.wire.messages import Log, Metadata, batches_of, log_or_error, next_of, opened
from pinakes.worker.wire.records import EMPTY

if TYPE_CHECKING:
    from pinakes.worker.client.connection import Check, PipeConnection

_LAST_WORDS = 1.0
"""Seconds in which a worker must acknowledge the cancellation of a stream."""
_TICK = pa.RecordBatch.from_arrays([], schema=EMPTY)


class PipeStream:
    """A stream that sends the next tick before a batch is used, so that the worker computes ahead."""

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
            LOGGER.debug("a stream did not end when it was closed: %s", error)

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
                self._note_log(metadata)
            self._finish()
            return None

    def _note_log(self, metadata: Metadata) -> None:
        message = log_or_error(metadata)
        if isinstance(message, Log):
            note_logs([message])
            return
        assert self._in is not None
        for _ in batches_of(self._in):
            pass
        self._finish()
        raise message

    def _finish(self) -> None:
        """Ends the stream after the worker's last batch; the connection is then free again."""
        self._over = True
        self._out.close()
        self._connection.channel.flush()
