"""Streams over HTTP: they stay open between requests, and a sealed token identifies the stream and its owner.

A response has at most one batch of rows, and no more bytes than the client accepts.
"""

from __future__ import annotations

import base64
import threading
import time
import uuid
from dataclasses import dataclass, field

import pyarrow as pa
from pyarrow import ipc

from pinakes.worker.exceptions import ProtocolError
from pinakes.worker.serving.calls import Running, Values
from pinakes.worker.serving.dispatch import Caller
from pinakes.worker.wire import protocol
from pinakes.worker.wire.messages import Metadata, error_batch, log_batch, stream_bytes

_IDLE_SECONDS = 300.0
_MOST = 1000
_ENOUGH_BYTES = 4 << 20
_ENOUGH_SECONDS = 1.0
"""The size or duration after which a response is sent; the next request fetches the rest."""
_WHAT, _CALL = "stream_state", "call_state"
_FRAME = 16_384
"""Bytes of a response that are reserved for data other than rows."""


@dataclass(eq=False)
class _Open:
    running: Running
    used: float
    lock: threading.Lock = field(default_factory=threading.Lock)
    left: pa.RecordBatch | None = None
    """Rows that did not fit into the last response."""


class Streams:
    def __init__(self) -> None:
        self._open: dict[bytes, _Open] = {}
        self._lock = threading.Lock()

    def begun(self, running: Running, caller: Caller) -> bytes:
        """Returns the stream after the header of a new one: no rows yet, and its token."""
        key = uuid.uuid4().bytes
        with self._lock:
            self._forget_idle()
            if len(self._open) >= _MOST:
                running.cancel()
                raise ValueError("too many streams are open")
            self._open[key] = _Open(running, time.monotonic())
        call = {protocol.CALL_STATE: _token(key, _CALL, caller)}
        return stream_bytes(running.schema, [_continued(running.schema, key, caller, call)])

    def exchange(self, batch: pa.RecordBatch, metadata: Metadata, caller: Caller, budget: int | None = None) -> bytes:
        """Returns the response to one request: some rows, and the token if there are more. `budget` is the maximum size
        of the response in bytes.
        """
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
            return self._answer(key, found, batch, caller, budget)

    def _answer(self, key: bytes, stream: _Open, batch: pa.RecordBatch, caller: Caller, budget: int | None) -> bytes:
        running, schema = stream.running, stream.running.schema
        try:
            if isinstance(running, Values):
                answer = running.answer(batch)
                response_metadata = {protocol.STREAM_STATE: _token(key, _WHAT, caller)}
                return _within(stream_bytes(schema, [*_logs(running), (answer, response_metadata)]), budget)
            rows, more = _some(stream, budget)
            batches: list[tuple[pa.RecordBatch, Metadata | None]] = [*_logs(running), *((b, None) for b in rows)]
            if more:
                batches.append(_continued(schema, key, caller))
            else:
                self._forget(key)
            return _within(stream_bytes(schema, batches), budget)
        except Exception as error:  # noqa: BLE001 - any error of the worker's code is sent to the caller
            self._forget(key)
            return stream_bytes(schema, [error_batch(error, schema)])

    def _forget(self, key: bytes) -> None:
        with self._lock:
            self._open.pop(key, None)

    def _forget_idle(self) -> None:
        old = [k for k, s in self._open.items() if s.used < time.monotonic() - _IDLE_SECONDS]
        for key in old:
            self._open.pop(key).running.cancel()


def _some(stream: _Open, budget: int | None) -> tuple[list[pa.RecordBatch], bool]:
    """Returns some rows in one batch, and whether there may be more."""
    assert not isinstance(stream.running, Values)
    found = [stream.left] if stream.left is not None else []
    stream.left, more = None, True
    size, until = sum(rows.nbytes for rows in found), time.monotonic() + _ENOUGH_SECONDS
    enough = _ENOUGH_BYTES if budget is None else min(_ENOUGH_BYTES, budget)
    while size < enough and time.monotonic() < until:
        rows = stream.running.next()
        if rows is None:
            more = False
            break
        found += [rows] if rows.num_rows else []
        size += rows.nbytes
    if not found:
        return [], more
    whole = found[0] if len(found) == 1 else pa.concat_batches(found)
    fits = _fitting(whole, budget)
    stream.left = whole.slice(fits) if fits < whole.num_rows else None
    return [whole.slice(0, fits)], more or stream.left is not None


def _fitting(rows: pa.RecordBatch, budget: int | None) -> int:
    """Returns the number of rows, at least one, that fit into the budget."""
    count: int = rows.num_rows
    if budget is None:
        return count
    while count > 1 and ipc.get_record_batch_size(rows.slice(0, count)) > budget - _FRAME:
        count //= 2
    return count


def _within(answer: bytes, budget: int | None) -> bytes:
    if budget is not None and len(answer) > budget:
        raise ValueError(f"an answer of {len(answer)} bytes is more than the {budget} that are taken")
    return answer


def _logs(running: Running) -> list[tuple[pa.RecordBatch, Metadata]]:
    logs = [log_batch(log, running.schema) for log in running.logs]
    running.logs.clear()
    return logs


def _token(key: bytes, what: str, caller: Caller) -> bytes:
    return base64.b64encode(caller.sealed(key, what))


def _continued(
    schema: pa.Schema, key: bytes, caller: Caller, call: Metadata | None = None
) -> tuple[pa.RecordBatch, Metadata]:
    nothing = pa.RecordBatch.from_arrays([pa.array([], f.type) for f in schema], schema=schema)
    return nothing, {protocol.STREAM_STATE: _token(key, _WHAT, caller), **(call or {})}


def _key(metadata: Metadata, caller: Caller) -> bytes:
    try:
        sealed = base64.b64decode(metadata[protocol.STREAM_STATE], validate=True)
    except (KeyError, ValueError):
        raise ProtocolError("an exchange must carry the state of its stream") from None
    return caller.seals.open(sealed, _WHAT, caller.name)
