"""Workers over HTTP. Streams are fetched in pieces; a token identifies the stream of a request."""

from __future__ import annotations

import http.client
import io
import select
import socket
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

import pyarrow as pa

from pinakes.worker.client.connection import CALL_SECONDS, Check
from pinakes.worker.client.response_metadata import note_logs, read_header
from pinakes.worker.exceptions import (
    AuthenticationError,
    ProtocolError,
    RemoteError,
    WorkerDied,
    WorkerError,
    WorkerTimeout,
)
from pinakes.worker.wire import protocol
from pinakes.worker.wire.messages import (
    Log,
    batches_of,
    log_or_error,
    opened,
    read_answer,
    request_bytes,
    stream_bytes,
)
from pinakes.worker.wire.methods import METHODS
from pinakes.worker.wire.records import EMPTY

LARGEST_ANSWER = 256 << 20
"""The maximum size of a response in bytes: of a call, or of a piece of a stream."""
_GLANCE = 0.1
_PIECE = 1 << 20
_TICK = pa.RecordBatch.from_arrays([], schema=EMPTY)


class HttpConnection:
    """One kept-alive connection. The token is sent in a header only."""

    def __init__(
        self,
        address: str,
        *,
        token: str | None = None,
        connect_timeout: float = 20.0,
        connect: Callable[..., socket.socket] | None = None,
    ) -> None:
        parts = urlsplit(address)
        if not parts.hostname:
            raise ValueError("the address of a worker must have a host: http://host:port")
        kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        self._host = parts.hostname
        self._prefix = parts.path.rstrip("/")
        self._connection = kind(parts.hostname, parts.port, timeout=connect_timeout)
        if connect is not None:
            self._connection._create_connection = connect  # type: ignore[attr-defined]
        self._headers = {"Content-Type": protocol.CONTENT_TYPE, "Accept": protocol.CONTENT_TYPE}
        if token is not None:
            self._headers["Authorization"] = f"Bearer {token}"
        self.alive = True

    def call(
        self,
        method: str,
        values: Mapping[str, Any],
        *,
        timeout: float | None = CALL_SECONDS,
        check: Check | None = None,
    ) -> bytes | None:
        kind = METHODS[method]
        answer = self.post(method, request_bytes(kind, values), timeout, check)
        value, logs = read_answer(io.BytesIO(answer), kind)
        note_logs(logs)
        return value

    def stream(
        self, request: bytes, schema: pa.Schema, *, timeout: float | None = CALL_SECONDS, check: Check | None = None
    ) -> HttpStream:
        sent = request_bytes(METHODS["init"], {"request": request})
        answer = io.BytesIO(self.post("init/init", sent, timeout, check))
        header = read_header(answer)
        return HttpStream(self, header, answer, timeout, check)

    def post(self, path: str, body: bytes, timeout: float | None, check: Check | None) -> bytes:
        """Posts a request; retries on a new connection if the old one was closed while it was idle."""
        fresh = self._connection.sock is None
        try:
            return self._post(path, body, timeout, check)
        except (http.client.RemoteDisconnected, ConnectionResetError, BrokenPipeError) as error:
            self._connection.close()
            if fresh:
                raise WorkerDied(f"the worker at {self._host} hung up") from error
        except OSError as error:
            self.close()
            raise WorkerDied(f"the worker at {self._host} can't be reached: {error}") from error
        except http.client.HTTPException as error:
            self.close()
            raise WorkerDied(f"the worker at {self._host} hung up in the middle of its answer") from error
        except RemoteError:
            raise  # the request was refused: the connection is still usable
        except WorkerError:
            self.close()
            raise
        return self.post(path, body, timeout, check)

    def is_idle(self) -> bool:
        return self.alive

    def close(self) -> None:
        self.alive = False
        self._connection.close()

    def _post(self, path: str, body: bytes, timeout: float | None, check: Check | None) -> bytes:
        connection = self._connection
        connection.request("POST", f"{self._prefix}/{protocol.NAME}/{path}", body, self._headers)
        self._wait(timeout, check)
        connection.sock.settimeout(timeout)
        try:
            response = connection.getresponse()
            with response:  # the connection stays open
                data = self._body(response, timeout, check)
        except TimeoutError as error:
            raise WorkerTimeout("no answer in time") from error
        if len(data) > LARGEST_ANSWER:
            raise ProtocolError(f"the worker at {self._host} sent an answer of more than {LARGEST_ANSWER >> 20} MB")
        if response.status == 401:
            raise AuthenticationError(f"the worker at {self._host} does not accept who calls: give a SECRET it knows")
        if response.status != 200:
            raise self._refused(response.status, response.headers.get_content_type(), data)
        return data

    def _refused(self, status: int, kind: str, data: bytes) -> WorkerError:
        """Returns the error for a response with a status other than 200, which may contain an error stream."""
        if kind == protocol.CONTENT_TYPE:
            for _, metadata in batches_of(opened(io.BytesIO(data))):
                message = log_or_error(metadata) if protocol.LOG_LEVEL in metadata else None
                if isinstance(message, RemoteError):
                    return message
        return ProtocolError(f"the worker at {self._host} answers with status {status}")

    def _body(self, response: http.client.HTTPResponse, timeout: float | None, check: Check | None) -> bytes:
        """Reads a response as it comes, until it is complete or too large: one that comes byte by byte has an end."""
        until = None if timeout is None else time.monotonic() + 4 * timeout
        parts, size = [], 0
        while size <= LARGEST_ANSWER:
            part = response.read1(_PIECE)
            if not part:
                if response.length:
                    raise http.client.IncompleteRead(b"", response.length)
                break
            parts.append(part)
            size += len(part)
            if check is not None:
                check()
            if until is not None and time.monotonic() > until:
                raise WorkerTimeout("no complete answer in time")
        return b"".join(parts)

    def _wait(self, timeout: float | None, check: Check | None) -> None:
        """Waits until the response begins; the caller may cancel meanwhile."""
        until = None if timeout is None else time.monotonic() + timeout
        while not select.select([self._connection.sock], [], [], _GLANCE)[0]:
            if check is not None:
                check()
            if until is not None and time.monotonic() > until:
                raise WorkerTimeout("no answer in time")


class HttpStream:
    def __init__(
        self, connection: HttpConnection, header: dict[str, Any], rest: Any, timeout: float | None, check: Check | None
    ) -> None:
        self._connection = connection
        self._timeout, self._check = timeout, check
        self.header = header
        self._token: bytes | None = None
        self._call: dict[bytes, bytes] = {}
        """Metadata that the worker sent when the stream began and expects with each request."""
        self._first = [batch for batch in self._read(rest) if batch.num_rows]

    def batches(self) -> Iterator[pa.RecordBatch]:
        try:
            yield from self._first
            while self._token is not None:
                yield from (batch for batch in self._exchange(_TICK, {}) if batch.num_rows)
        finally:
            self.close()

    def exchange(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        found = self._exchange(batch, {}) if self._token is not None else []
        if len(found) > 1:  # an additional empty batch may only carry the stream's state
            found = [some for some in found if some.num_rows]
        if len(found) != 1:
            raise ProtocolError(f"the worker answered one batch with {len(found)}")
        return found[0]

    def close(self) -> None:
        if self._token is not None and self._connection.alive:
            try:
                self._exchange(_TICK, {protocol.CANCEL: b"1"})
            except WorkerError:
                self._connection.close()
        self._token = None

    def _exchange(self, batch: pa.RecordBatch, metadata: dict[bytes, bytes]) -> list[pa.RecordBatch]:
        assert self._token is not None
        body = stream_bytes(batch.schema, [(batch, {protocol.STREAM_STATE: self._token, **self._call, **metadata})])
        answer = self._connection.post("init/exchange", body, self._timeout, self._check)
        return self._read(io.BytesIO(answer))

    def _read(self, source: Any) -> list[pa.RecordBatch]:
        """Returns the batches of a response, and stores the state of the stream."""
        self._token = None
        found: list[pa.RecordBatch] = []
        size = 0
        for batch, metadata in batches_of(opened(source)):
            size += batch.nbytes
            if size > LARGEST_ANSWER:  # its buffers were compressed
                raise ProtocolError(f"the rows of an answer have more than {LARGEST_ANSWER >> 20} MB")
            if protocol.LOG_LEVEL in metadata:
                message = log_or_error(metadata)
                if isinstance(message, RemoteError):
                    raise message
                assert isinstance(message, Log)
                note_logs([message])
                continue
            self._token = metadata.get(protocol.STREAM_STATE, self._token)
            if protocol.CALL_STATE in metadata:
                self._call = {protocol.CALL_STATE: metadata[protocol.CALL_STATE]}
            found.append(batch)
        return found
