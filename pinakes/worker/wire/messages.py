"""Messages: a request is one stream of one row, an answer one stream of logs and at most one row.

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
"""Characters of a message or a traceback that go over the wire."""


@dataclass(frozen=True, slots=True)
class Request:
    method: Method
    values: dict[str, Any] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Log:
    """What the other side tells beside its answer."""

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
    """The next request; None when the other side is done. ProtocolError says what is wrong with it, after it was read
    whole where that can be."""
    try:
        reader = ipc.open_stream(source)
    except pa.ArrowInvalid as error:
        if _is_at_end(error):
            return None
        raise Damaged(f"what came is no request: {error}") from error
    except (pa.ArrowException, OSError) as error:
        raise Damaged(f"what came is no request: {error}") from error
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


# --- answers ---------------------------------------------------------------------------------------------------------


def answer_bytes(method: Method, value: bytes | None) -> bytes:
    if method.answers == "nothing":
        return stream_bytes(EMPTY, [])
    batch = row(method.result, {"result": value})
    return stream_bytes(method.result, [(batch, None)])


def error_bytes(error: BaseException, schema: pa.Schema = EMPTY) -> bytes:
    return stream_bytes(schema, [error_batch(error, schema)])


def error_batch(error: BaseException, schema: pa.Schema = EMPTY) -> tuple[pa.RecordBatch, Metadata]:
    """A batch of no rows that tells of an exception. Its traceback stays here: it may hold what nobody is to see."""
    kind = getattr(error, "kind", "") or "exception"
    code = getattr(error, "code", "") or ("UNIMPLEMENTED" if isinstance(error, NotImplementedError) else "UNKNOWN")
    told = getattr(error, "type", None)
    name = told if isinstance(error, RemoteError) and isinstance(told, str) else type(error).__name__
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
    """The value of an answer, and what was logged; the exception that it tells of is raised."""
    value: bytes | None = None
    came = False
    logs: list[Log] = []
    error: RemoteError | None = None
    for batch, metadata in batches_of(opened(source)):
        if protocol.LOG_LEVEL in metadata:
            told = log_or_error(metadata)
            error = told if isinstance(told, RemoteError) else error
            logs += [told] if isinstance(told, Log) else []
        elif batch.num_rows:
            value, came = row_of(batch, f"the answer of {method.name}").get("result"), True
    if error is not None:
        raise error
    if method.answers == "value" and not came:
        raise ProtocolError(f"the answer of {method.name} has no row")
    return value, logs


def log_or_error(metadata: Metadata) -> Log | RemoteError:
    """What a batch of no rows tells."""
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
    """A stream that must begin here."""
    try:
        return ipc.open_stream(source)
    except (pa.ArrowException, OSError) as error:
        raise Damaged(f"what came is no Arrow stream: {error}") from error


def batches_of(reader: ipc.RecordBatchStreamReader) -> Iterator[tuple[pa.RecordBatch, Metadata]]:
    """The batches of a stream up to its end marker, each with its metadata."""
    while True:
        found = next_of(reader)
        if found is None:
            return
        yield found


def next_of(reader: ipc.RecordBatchStreamReader) -> tuple[pa.RecordBatch, Metadata] | None:
    """The next batch of a stream; None at its end marker. It is checked: Arrow takes offsets and indices as they are,
    also those that lead out of the memory of the batch."""
    try:
        batch, metadata = reader.read_next_batch_with_custom_metadata()
        batch.validate(full=True)
    except StopIteration:
        return None
    except (pa.ArrowException, OSError) as error:
        raise Damaged(f"a message is damaged: {error}") from error
    told = dict(metadata.items()) if metadata is not None else {}
    if batch.num_rows == 0 and protocol.LOG_LEVEL not in told and any(key in told for key in protocol.POINTERS):
        raise ProtocolError("rows are kept elsewhere (in shared memory or at another address), where nobody looks")
    return batch, told


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
    """Arrow says so when not a single byte of a next message came."""
    return "null or length 0" in str(error)
