"""Handles requests one after the other over a channel: standard input and output, or a socket."""

from __future__ import annotations

import logging
from typing import Any

import pyarrow as pa
from pyarrow import ipc

from pinakes.worker.channel import Channel
from pinakes.worker.exceptions import Damaged, ProtocolError, WorkerDied
from pinakes.worker.serving.calls import Running, Values
from pinakes.worker.serving.dispatch import Caller, Dispatcher
from pinakes.worker.wire import protocol
from pinakes.worker.wire.messages import (
    Metadata,
    Request,
    answer_bytes,
    error_batch,
    error_bytes,
    log_batch,
    next_of,
    opened,
    read_request,
)

LOGGER = logging.getLogger("pinakes.worker")


def serve(channel: Channel, dispatcher: Dispatcher, caller: Caller) -> None:
    """Serves requests until the other side closes the channel; data that is not a message gets one error response, and
    ends the channel.
    """
    file = pa.PythonFile(channel, "r")
    while True:
        try:
            request = read_request(file)
        except Damaged as error:
            _send(channel, error_bytes(error))
            LOGGER.error("%s", error)
            return
        except ProtocolError as error:
            _send(channel, error_bytes(error))
            continue
        if request is None:
            return
        if request.method.answers == "stream":
            _stream(request, channel, file, dispatcher, caller)
        else:
            _send(channel, answered(request, dispatcher, caller))


def answered(request: Request, dispatcher: Dispatcher, caller: Caller) -> bytes:
    """Returns the bytes of the response to a request that is not a stream."""
    try:
        return answer_bytes(request.method, dispatcher.unary(request, caller))
    except Exception as error:  # noqa: BLE001 - any error of the worker's code is sent to the caller
        note(request, error)
        return error_bytes(error, request.method.result)


def note(request: Request, error: Exception) -> None:
    """Logs an error in the worker's own log, with the traceback, which is not sent to the caller."""
    expected = isinstance(error, ProtocolError | ValueError | NotImplementedError)
    LOGGER.log(
        logging.DEBUG if expected else logging.ERROR, "%s failed: %s", request.method.name, error, exc_info=error
    )


def _stream(request: Request, channel: Channel, file: Any, dispatcher: Dispatcher, caller: Caller) -> None:
    try:
        header, running = dispatcher.stream(request, caller)
    except Exception as error:  # noqa: BLE001 - any error of the worker's code is sent to the caller
        note(request, error)
        _send(channel, error_bytes(error))
        return
    _send(channel, header)
    ticks = opened(file)
    out = ipc.new_stream(pa.PythonFile(channel, "w"), running.schema)
    try:
        while (tick := next_of(ticks)) is not None:
            if not _step(running, tick, out, request):
                break
            channel.flush()
    except WorkerDied:
        running.cancel()
        raise
    out.close()
    channel.flush()
    while tick is not None:  # ticks that were sent ahead
        tick = next_of(ticks)


def _step(running: Running, tick: tuple[pa.RecordBatch, Metadata], out: Any, request: Request) -> bool:
    """Answers one tick; returns False at the end of the stream."""
    batch, metadata = tick
    if protocol.CANCEL in metadata:
        running.cancel()
        return False
    try:
        found = running.answer(batch) if isinstance(running, Values) else running.next()
    except Exception as error:  # noqa: BLE001 - any error of the worker's code is sent to the caller
        note(request, error)
        sent, why = error_batch(error, running.schema)
        out.write_batch(sent, custom_metadata=why)
        return False
    for log in running.logs:
        empty, said = log_batch(log, running.schema)
        out.write_batch(empty, custom_metadata=said)
    running.logs.clear()
    if found is None:
        return False
    out.write_batch(found)
    return True


def _send(channel: Channel, data: bytes) -> None:
    channel.write(data)
    channel.flush()
