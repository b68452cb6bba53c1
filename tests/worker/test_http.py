"""HTTP as another side's client speaks it: by Arrow and http.client alone, against a worker that serves."""

from __future__ import annotations

import gzip
import http.client
import io
import threading
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import pyarrow as pa
import pytest
from pyarrow import ipc

from pinakes.worker import ScalarFunction, TableFunctionGenerator, Worker
from pinakes.worker.catalog.names import FunctionType
from pinakes.worker.client.calls import FunctionCall
from pinakes.worker.client.http import HttpConnection
from pinakes.worker.exceptions import RemoteError, RemoteNotImplementedError
from pinakes.worker.serving.http import WorkerServer
from pinakes.worker.wire import protocol
from pinakes.worker.wire.messages import request_bytes, stream_bytes
from pinakes.worker.wire.methods import METHODS
from pinakes.worker.wire.records import decode, encode, schema_bytes
from pinakes.worker.wire.schemas import INIT_REQUEST

TYPE = {"Content-Type": protocol.CONTENT_TYPE}
ROWS = 30_000
INPUT = pa.schema([("arg_0", pa.int64())])


class Numbers(TableFunctionGenerator):
    """Three batches."""

    FIXED_SCHEMA = pa.schema([("i", pa.int64())])

    @classmethod
    def initial_state(cls, params):
        return [0]

    @classmethod
    def process(cls, params, state, out):
        out.emit(pa.record_batch({"i": pa.array(range(state[0], state[0] + ROWS // 3), pa.int64())}))
        state[0] += ROWS // 3
        if state[0] == ROWS:
            out.finish()


class Twice(ScalarFunction):
    ARGUMENTS = pa.schema([("x", pa.int64())])
    OUTPUT = pa.int64()

    @classmethod
    def compute(cls, params, x):
        return pa.array([2 * v for v in x.to_pylist()], pa.int64())


class NumberWorker(Worker):
    catalog_name, functions = "numbers", [Numbers, Twice]


class Peer:
    """A client of somebody else: it keeps what the protocol says it must keep, and nothing more."""

    def __init__(self, address: str) -> None:
        parts = urlsplit(address)
        self._connection = http.client.HTTPConnection(str(parts.hostname), parts.port, timeout=60)

    def ask(
        self, verb: str, path: str, body: bytes = b"", **headers: str
    ) -> tuple[int, http.client.HTTPMessage, bytes]:
        sent = {key.replace("_", "-"): value for key, value in headers.items()}
        self._connection.request(verb, path, body, {**TYPE, **sent})
        answer = self._connection.getresponse()
        return answer.status, answer.headers, answer.read()

    def post(self, method: str, body: bytes, **headers: str) -> tuple[int, http.client.HTTPMessage, bytes]:
        return self.ask("POST", f"/vgi.v2/{method}", body, **headers)

    def close(self) -> None:
        self._connection.close()


@pytest.fixture
def server() -> Iterator[WorkerServer]:
    with WorkerServer(("127.0.0.1", 0), NumberWorker().dispatcher()) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def peer(server: WorkerServer) -> Iterator[Peer]:
    peer = Peer(server.address)
    yield peer
    peer.close()


def asked(function: str, type: FunctionType = FunctionType.TABLE) -> bytes:
    output = Numbers.FIXED_SCHEMA if type is FunctionType.TABLE else pa.schema([("result", pa.int64())])
    call = FunctionCall(name=function, type=type, input_schema=INPUT if type is FunctionType.SCALAR else None)
    request = encode(INIT_REQUEST, {"bind_call": call.request(), "output_schema": schema_bytes(output)})
    return request_bytes(METHODS["init"], {"request": request})


def read(body: bytes) -> list[list[tuple[pa.RecordBatch, dict[bytes, bytes]]]]:
    """The streams of a body: of each, its batches with what is said of them."""
    source, streams = io.BytesIO(body), []
    while source.tell() < len(body):
        reader = ipc.open_stream(source)
        streams.append([])
        while True:
            try:
                batch, metadata = reader.read_next_batch_with_custom_metadata()
            except StopIteration:
                break
            streams[-1].append((batch, dict(metadata.items()) if metadata else {}))
    return streams


def begun(peer: Peer, body: bytes) -> dict[bytes, bytes]:
    """The tokens of a stream."""
    status, _, answer = peer.post("init/init", body)
    assert status == 200
    _, ((batch, tokens),) = read(answer)
    assert batch.num_rows == 0
    assert set(tokens) == {protocol.STREAM_STATE, protocol.CALL_STATE}
    return tokens


def test_capabilities_are_reported_without_a_login(peer: Peer):
    for verb in ("GET", "HEAD", "OPTIONS"):
        status, headers, _ = peer.ask(verb, "/health")
        assert status == 200
        assert headers["VGI-Supported-Encodings"] == "zstd, gzip"
        assert headers["VGI-Accept-Max-Response-Bytes-Support"] == "true"
        assert int(headers["VGI-Max-Request-Bytes"]) > 0


def test_rows_come_one_batch_at_a_time_within_what_is_taken(peer: Peer):
    tokens = begun(peer, asked("numbers"))
    found: list[int] = []
    answers = 0
    while protocol.STREAM_STATE in tokens:
        tick = pa.RecordBatch.from_arrays([], schema=pa.schema([]))
        body = stream_bytes(tick.schema, [(tick, tokens)])
        status, _, answer = peer.post("init/exchange", body, VGI_Accept_Max_Response_Bytes="70000")
        assert (status, len(answer) <= 70_000) == (200, True)
        (batches,) = read(answer)
        assert len([b for b, _ in batches if b.num_rows]) <= 1
        found += [i for b, _ in batches for i in b.column(0).to_pylist()]
        told: dict[bytes, bytes] = {}
        for _, said in batches:
            told |= said
        tokens = {**tokens, **told} if protocol.STREAM_STATE in told else {}
        answers += 1
    assert found == list(range(ROWS))
    assert answers > 3


def test_an_answer_to_rows_says_itself_how_the_stream_goes_on(peer: Peer):
    tokens = begun(peer, asked("twice", FunctionType.SCALAR))
    for values in ([1, 2], [], [3]):
        batch = pa.record_batch([pa.array(values, pa.int64())], schema=INPUT)
        _, _, answer = peer.post("init/exchange", stream_bytes(INPUT, [(batch, tokens)]))
        (((found, told),),) = read(answer)
        assert found.column(0).to_pylist() == [2 * v for v in values]
        tokens = {**tokens, **told}


def test_bodies_may_be_packed(peer: Peer):
    plain = asked("numbers")
    for coding, body in (("gzip", gzip.compress(plain)), ("zstd", bytes(pa.compress(plain, "zstd", asbytes=True)))):
        status, _, _ = peer.post("init/init", body, Content_Encoding=coding)
        assert status == 200
    tick = pa.RecordBatch.from_arrays([], schema=pa.schema([]))
    body = stream_bytes(tick.schema, [(tick, begun(peer, plain))])
    _, headers, answer = peer.post("init/exchange", body, X_VGI_Accept_Encoding="br, gzip", Accept_Encoding="zstd")
    assert (headers["X-VGI-Content-Encoding"], headers["Content-Encoding"]) == ("gzip", None)
    assert sum(b.num_rows for b, _ in read(gzip.decompress(answer))[0]) > 0


@pytest.mark.parametrize(
    ("path", "headers", "status"),
    [
        ("catalog_catalogs", {"Content_Type": "text/plain"}, 415),
        ("catalog_catalogs", {"Content_Encoding": "br"}, 415),
        ("catalog_catalogs", {"Content_Encoding": "gzip"}, 400),
        ("catalog_catalogs", {"VGI_Accept_Max_Response_Bytes": "5"}, 400),
        ("catalog_schemas", {}, 400),
    ],
)
def test_requests_that_are_refused(peer: Peer, path: str, headers: dict[str, str], status: int):
    found, _, _ = peer.post(path, request_bytes(METHODS["catalog_catalogs"], {}), **headers)
    assert found == status


def test_a_method_that_is_not_there_is_reported(peer: Peer):
    batch = pa.RecordBatch.from_arrays([], schema=pa.schema([]))
    names = {protocol.METHOD: b"dance", protocol.PROTOCOL: b"vgi.v2", protocol.PROTOCOL_VERSION: b"2.2.0"}
    status, headers, answer = peer.post("dance", stream_bytes(batch.schema, [(batch, names)]))
    assert (status, headers["X-VGI-RPC-Error"]) == (404, "true")
    (((_, told),),) = read(answer)
    assert told[protocol.ERROR_KIND] == b"method_not_implemented"


def test_our_client_understands_a_refusal_and_sends_back_what_it_was_given(server: WorkerServer, monkeypatch: Any):
    sent: list[dict[bytes, bytes]] = []
    real = server.streams.exchange

    def exchange(batch: pa.RecordBatch, metadata: dict[bytes, bytes], *rest: Any) -> bytes:
        sent.append(metadata)
        return real(batch, metadata, *rest)

    monkeypatch.setattr(server.streams, "exchange", exchange)
    connection = HttpConnection(server.address)
    stream = connection.stream(decode_request(asked("numbers")), pa.schema([]))
    assert sum(batch.num_rows for batch in stream.batches()) == ROWS
    assert sent
    assert all(protocol.CALL_STATE in metadata for metadata in sent)
    values = connection.stream(decode_request(asked("twice", FunctionType.SCALAR)), INPUT)
    for numbers in ([1], []):
        answer = values.exchange(pa.record_batch([pa.array(numbers, pa.int64())], schema=INPUT))
        assert answer.column(0).to_pylist() == [2 * n for n in numbers]
    values.close()
    monkeypatch.setattr("pinakes.worker.wire.messages.METHODS", {})
    with pytest.raises(RemoteNotImplementedError, match="not implemented"):
        connection.call("catalog_catalogs", {})
    monkeypatch.undo()
    with pytest.raises(RemoteError, match="BindRequest"):
        connection.call("bind", {"request": b"nothing"})
    assert connection.alive
    assert decode(connection.call("catalog_catalogs", {}), "it")["items"]
    connection.close()


def decode_request(data: bytes) -> bytes:
    return bytes(ipc.open_stream(data).read_next_batch().column("request")[0].as_py())
