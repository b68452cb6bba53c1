"""Messages: a request is one stream of one row, a response one stream of logs and at most one row.

Reading consumes a stream to its end marker, so that the next message begins where this one ended.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
from pyarrow import ipc

from pinakes.worker.exceptions import Damaged, ProtocolError, RemoteError, remote_error
from pinakes.worker.wire import protocol
from pinakes.worker.wire.methods import METHODS, Method
from pinakes.worker.wire.records import EMPTY, row, row_of

Metadata = dict[bytes, bytes]
MAX_TEXT = 16_384
"""The maximum length of a message or a traceback that is sent, in characters."""


@dataclass(frozen=True, slots=True)
class Request:
    method: Method
    values: dict[str, Any] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Log:
    """A log message that the other side sends with its response."""

    level: str
    message: str
    extra: Mapping[str, Any] = field(default_factory=dict)


# --- requests --------------------------------------------------------------------------------------------------------


def request_bytes(method: Method, values: Mapping[str, Any]) -> bytes:
    batch = row(method.parameters, values)
    metadata = {
        protocol.METHOD: method.name.encode(),
        protocol.REQUEST_VERSION: protocol.REQUEST.encode(),
        protocol.PROTOCOL: protocol.NAME.encode(),
        protocol.PROTOCOL_VERSION: protocol.VERSION.encode(),
    }
    return stream_bytes(batch.schema, [(batch, metadata)])


def read_request(source: Any) -> Request | None:
    """Reads the next request; None if the other side has closed the connection. An invalid request raises
    ProtocolError, after it was read completely where possible.
    """
    try:
        reader = ipc.open_stream(source)
    except pa.ArrowInvalid as error:
        if _is_at_end(error):
            return None
        raise Damaged(f"malformed request: {error}") from error
    except (pa.ArrowException, OSError) as error:
        raise Damaged(f"malformed request: {error}") from error
    found = list(batches_of(reader))
    if len(found) != 1:
        raise ProtocolError(f"a request is one batch, and {len(found)} came")
    batch, metadata = found[0]
    return Request(_method(metadata), row_of(batch, "a request"))


def _method(metadata: Metadata) -> Method:
    name = metadata.get(protocol.METHOD, b"").decode("utf-8", "replace")
    if not name:
        raise ProtocolError("a request must name its method (vgi_rpc.method)", kind="method_not_specified")
    spoken = metadata.get(protocol.PROTOCOL, b"").decode("utf-8", "replace")
    if not spoken:
        raise ProtocolError(
            f"a request must name its protocol (vgi_rpc.protocol); this worker speaks {protocol.NAME}",
            kind="protocol_not_specified",
        )
    version = metadata.get(protocol.PROTOCOL_VERSION, b"").decode("utf-8", "replace")
    if spoken != protocol.NAME or not protocol.speaks(version):
        raise ProtocolError(
            f"Protocol version mismatch. Client: {spoken} {version or '(none)'}, Server: {protocol.NAME} "
            f"{protocol.VERSION}. Major and minor version must be the same.",
            kind="protocol_version_mismatch",
            code="FAILED_PRECONDITION",
        )
    found = METHODS.get(name)
    if found is None:
        raise ProtocolError(
            f"Method '{name}' is not implemented by this worker", kind="method_not_implemented", code="UNIMPLEMENTED"
        )
    return found


# --- responses -------------------------------------------------------------------------------------------------------


def answer_bytes(method: Method, value: bytes | None) -> bytes:
    if method.answers == "nothing":
        return stream_bytes(EMPTY, [])
    batch = row(method.result, {"result": value})
    return stream_bytes(method.result, [(batch, None)])


def error_bytes(error: BaseException, schema: pa.Schema = EMPTY) -> bytes:
    return stream_bytes(schema, [error_batch(error, schema)])


def error_batch(error: BaseException, schema: pa.Schema = EMPTY) -> tuple[pa.RecordBatch, Metadata]:
    """Returns an empty batch that reports an exception. The traceback is not sent: it may contain confidential data."""
    kind = getattr(error, "kind", "") or "exception"
    code = getattr(error, "code", "") or ("UNIMPLEMENTED" if isinstance(error, NotImplementedError) else "UNKNOWN")
    log_entry = getattr(error, "type", None)
    name = log_entry if isinstance(error, RemoteError) and isinstance(log_entry, str) else type(error).__name__
    words = str(error) or name
    extra = json.dumps({"exception_type": name, "traceback": "", "frames": []})
    return _nothing(schema), {
        protocol.LOG_LEVEL: protocol.EXCEPTION.encode(),
        protocol.LOG_MESSAGE: words[:MAX_TEXT].encode("utf-8", "replace"),
        protocol.LOG_EXTRA: extra.encode(),
        protocol.ERROR_KIND: kind.encode(),
        protocol.ERROR_CODE: code.encode(),
    }


def log_batch(log: Log, schema: pa.Schema) -> tuple[pa.RecordBatch, Metadata]:
    return _nothing(schema), {
        protocol.LOG_LEVEL: log.level.encode(),
        protocol.LOG_MESSAGE: log.message[:MAX_TEXT].encode("utf-8", "replace"),
        protocol.LOG_EXTRA: json.dumps(dict(log.extra), default=str).encode(),
    }


def read_answer(source: Any, method: Method) -> tuple[bytes | None, list[Log]]:
    """Returns the value of a response, and its logs; raises the exception that it reports."""
    value: bytes | None = None
    came = False
    logs: list[Log] = []
    error: RemoteError | None = None
    for batch, metadata in batches_of(opened(source)):
        if protocol.LOG_LEVEL in metadata:
            log_entry = log_or_error(metadata)
            error = log_entry if isinstance(log_entry, RemoteError) else error
            logs += [log_entry] if isinstance(log_entry, Log) else []
        elif batch.num_rows:
            value, came = row_of(batch, f"the answer of {method.name}").get("result"), True
    if error is not None:
        raise error
    if method.answers == "value" and not came:
        raise ProtocolError(f"the answer of {method.name} has no row")
    return value, logs


def log_or_error(metadata: Metadata) -> Log | RemoteError:
    """Returns the log message or error in the metadata of an empty batch."""
    level = metadata[protocol.LOG_LEVEL].decode("utf-8", "replace")
    message = metadata.get(protocol.LOG_MESSAGE, b"").decode("utf-8", "replace")[:MAX_TEXT]
    extra = _json(metadata.get(protocol.LOG_EXTRA, b""))
    if level != protocol.EXCEPTION:
        return Log(level, message, extra)
    kind, code = (
        metadata.get(key, b"").decode("utf-8", "replace") for key in (protocol.ERROR_KIND, protocol.ERROR_CODE)
    )
    return remote_error(message, type=str(extra.get("exception_type") or "Exception"), kind=kind, code=code)


def opened(source: Any) -> ipc.RecordBatchStreamReader:
    """Opens a stream that must begin here."""
    try:
        return ipc.open_stream(source)
    except (pa.ArrowException, OSError) as error:
        raise Damaged(f"malformed Arrow stream: {error}") from error


def batches_of(reader: ipc.RecordBatchStreamReader) -> Iterator[tuple[pa.RecordBatch, Metadata]]:
    """Yields the batches of a stream up to its end marker, each with its metadata."""
    while True:
        found = next_of(reader)
        if found is None:
            return
        yield found


def next_of(reader: ipc.RecordBatchStreamReader) -> tuple[pa.RecordBatch, Metadata] | None:
    """Returns the next batch of a stream; None at its end marker. The batch is validated: Arrow does not check offsets
    and indices, which could point outside the memory of the batch.
    """
    try:
        batch, metadata = reader.read_next_batch_with_custom_metadata()
        batch.validate(full=True)
    except StopIteration:
        return None
    except (pa.ArrowException, OSError) as error:
        raise Damaged(f"a message is damaged: {error}") from error
    log_entry = dict(metadata.items()) if metadata is not None else {}
    if (
        batch.num_rows == 0
        and protocol.LOG_LEVEL not in log_entry
        and any(key in log_entry for key in protocol.POINTERS)
    ):
        raise ProtocolError("rows in shared memory or at another address are not supported")
    return batch, log_entry


def stream_bytes(schema: pa.Schema, batches: list[tuple[pa.RecordBatch, Metadata | None]]) -> bytes:
    sink = pa.BufferOutputStream()
    with ipc.new_stream(sink, schema) as writer:
        for batch, metadata in batches:
            writer.write_batch(batch, custom_metadata=metadata)
    return bytes(sink.getvalue())


def _nothing(schema: pa.Schema) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([pa.nulls(0, f.type) for f in schema], schema=schema)


def _json(text: bytes) -> dict[str, Any]:
    try:
        found = json.loads(text or b"{}")
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _is_at_end(error: pa.ArrowInvalid) -> bool:
    """Whether the error means that no byte of a next message was received."""
    return "null or length 0" in str(error)
