"""Streams over HTTP: they stay here between two requests, and a sealed token says which is meant and whose it is."""

from __future__ import annotations

import base64
import threading
import time
import uuid
from dataclasses import dataclass, field

import pyarrow as pa

from pinakes.worker.exceptions import ProtocolError
from pinakes.worker.serving.calls import Running, Values
from pinakes.worker.serving.dispatch import Caller
from pinakes.worker.wire import protocol
from pinakes.worker.wire.messages import Metadata, error_batch, log_batch, stream_bytes

_IDLE_SECONDS = 300.0
_MOST = 1000
_ENOUGH_BYTES = 4 << 20
_ENOUGH_SECONDS = 1.0
"""After so much, an answer goes out, and the next request fetches the rest."""
_WHAT = "stream_state"


@dataclass(eq=False)
class _Open:
    running: Running
    used: float
    lock: threading.Lock = field(default_factory=threading.Lock)


class Streams:
    def __init__(self) -> None:
        self._open: dict[bytes, _Open] = {}
        self._lock = threading.Lock()

    def begun(self, running: Running, caller: Caller) -> bytes:
        """The stream that follows the header of a new one: no rows yet, and its token."""
        key = uuid.uuid4().bytes
        with self._lock:
            self._forget_idle()
            if len(self._open) >= _MOST:
                running.cancel()
                raise ValueError("too many streams are open")
            self._open[key] = _Open(running, time.monotonic())
        return stream_bytes(running.schema, [_continued(running.schema, key, caller)])

    def exchange(self, batch: pa.RecordBatch, metadata: Metadata, caller: Caller) -> bytes:
        """The answer to one request: some batches, and the token if there is more to come."""
        key = _key(metadata, caller)
        with self._lock:
            found = self._open.get(key)
        if found is None:
            raise ProtocolError("this stream is not open any more", kind="stream_not_found")
        with found.lock:
            found.used = time.monotonic()
            running = found.running
            if protocol.CANCEL in metadata:
                self._forget(key)
                running.cancel()
                return stream_bytes(running.schema, [])
            return self._answer(key, running, batch, caller)

    def _answer(self, key: bytes, running: Running, batch: pa.RecordBatch, caller: Caller) -> bytes:
        try:
            found, more = _some(running, batch)
        except Exception as error:  # noqa: BLE001 - whatever the worker's code raises, its caller is told
            self._forget(key)
            return stream_bytes(running.schema, [error_batch(error, running.schema)])
        logs = [log_batch(log, running.schema) for log in running.logs]
        running.logs.clear()
        batches: list[tuple[pa.RecordBatch, Metadata | None]] = [*logs, *((b, None) for b in found)]
        if more:
            batches.append(_continued(running.schema, key, caller))
        else:
            self._forget(key)
        return stream_bytes(running.schema, batches)

    def _forget(self, key: bytes) -> None:
        with self._lock:
            self._open.pop(key, None)

    def _forget_idle(self) -> None:
        old = [k for k, s in self._open.items() if s.used < time.monotonic() - _IDLE_SECONDS]
        for key in old:
            self._open.pop(key).running.cancel()


def _some(running: Running, batch: pa.RecordBatch) -> tuple[list[pa.RecordBatch], bool]:
    """Some rows, and whether there may be more."""
    if isinstance(running, Values):
        return [running.answer(batch)], True
    found: list[pa.RecordBatch] = []
    size, until = 0, time.monotonic() + _ENOUGH_SECONDS
    while size < _ENOUGH_BYTES and time.monotonic() < until:
        rows = running.next()
        if rows is None:
            return found, False
        found.append(rows)
        size += rows.nbytes
    return found, True


def _continued(schema: pa.Schema, key: bytes, caller: Caller) -> tuple[pa.RecordBatch, Metadata]:
    token = base64.b64encode(caller.sealed(key, _WHAT))
    return pa.RecordBatch.from_arrays([pa.array([], f.type) for f in schema], schema=schema), {
        protocol.STREAM_STATE: token
    }


def _key(metadata: Metadata, caller: Caller) -> bytes:
    try:
        sealed = base64.b64decode(metadata[protocol.STREAM_STATE], validate=True)
    except (KeyError, ValueError):
        raise ProtocolError("an exchange must carry the state of its stream") from None
    return caller.seals.open(sealed, _WHAT, caller.name)
