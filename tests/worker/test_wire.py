"""The bytes of the protocol: golden files of requests and answers, read by Arrow alone, and what must not pass."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import ipc

from pinakes.worker.exceptions import Damaged, ProtocolError, RemoteValueError
from pinakes.worker.wire import protocol, schemas
from pinakes.worker.wire.arguments import Arguments, call_bytes, call_from, scan_bytes, scan_from
from pinakes.worker.wire.filters import Comparison, filters_bytes
from pinakes.worker.wire.messages import (
    answer_bytes,
    batches_of,
    error_bytes,
    opened,
    read_answer,
    read_request,
    request_bytes,
    stream_bytes,
)
from pinakes.worker.wire.methods import METHODS
from pinakes.worker.wire.records import decode, encode

GOLDEN = Path(__file__).parent / "golden"

MESSAGES = {
    "request_catalogs": lambda: request_bytes(METHODS["catalog_catalogs"], {}),
    "request_table_get": lambda: request_bytes(
        METHODS["catalog_table_get"],
        {"attach_opaque_data": b"\x01\x02", "schema_path": ["main"], "name": "users"},
    ),
    "request_attach": lambda: request_bytes(
        METHODS["catalog_attach"], {"request": encode(schemas.CATALOG_ATTACH_REQUEST, {"name": "myapp"})}
    ),
    "answer_version": lambda: answer_bytes(METHODS["catalog_version"], encode(schemas.CATALOG_VERSION, {"version": 7})),
    "answer_nothing": lambda: answer_bytes(METHODS["catalog_detach"], None),
    "answer_error": lambda: error_bytes(ValueError("no such table")),
    "filters": lambda: filters_bytes([Comparison("id", "gt", pa.scalar(5))], ["id", "name"]),
    "arguments": lambda: call_bytes(Arguments.of([1, "a"], {"n": True})),
}


@pytest.mark.parametrize("name", MESSAGES)
def test_messages_are_the_golden_bytes(name: str):
    assert MESSAGES[name]().hex() == (GOLDEN / f"{name}.hex").read_text().strip()


def golden(name: str) -> bytes:
    return bytes.fromhex((GOLDEN / f"{name}.hex").read_text())


def test_a_request_is_what_the_protocol_says():
    """Read by Arrow itself: one row, one field per parameter, and the metadata."""
    reader = ipc.open_stream(golden("request_table_get"))
    batch, metadata = reader.read_next_batch_with_custom_metadata()
    assert batch.to_pylist() == [
        {
            "attach_opaque_data": b"\x01\x02",
            "schema_path": ["main"],
            "name": "users",
            "at_unit": None,
            "at_value": None,
            "transaction_opaque_data": None,
        }
    ]
    assert dict(metadata.items()) == {
        b"vgi_rpc.method": b"catalog_table_get",
        b"vgi_rpc.request_version": b"1",
        b"vgi_rpc.protocol": b"vgi.v2",
        b"vgi_rpc.protocol_version": b"2.2.0",
    }


def test_golden_answers_are_understood():
    value, logs = read_answer(io.BytesIO(golden("answer_version")), METHODS["catalog_version"])
    assert decode(value, "it") == {"version": 7}
    assert logs == []
    assert read_answer(io.BytesIO(golden("answer_nothing")), METHODS["catalog_detach"]) == (None, [])
    with pytest.raises(RemoteValueError, match="no such table") as raised:
        read_answer(io.BytesIO(golden("answer_error")), METHODS["catalog_version"])
    assert (raised.value.type, raised.value.code) == ("ValueError", "UNKNOWN")


def test_an_error_shows_no_traceback():
    batch, metadata = ipc.open_stream(golden("answer_error")).read_next_batch_with_custom_metadata()
    assert batch.num_rows == 0
    assert metadata[b"vgi_rpc.log_level"] == b"EXCEPTION"
    assert b'"traceback": ""' in metadata[b"vgi_rpc.log_extra"]


@pytest.mark.parametrize(
    ("metadata", "kind", "code"),
    [
        ({}, "method_not_specified", "INVALID_ARGUMENT"),
        ({protocol.METHOD: b"catalog_catalogs"}, "protocol_not_specified", "INVALID_ARGUMENT"),
        (
            {
                protocol.METHOD: b"catalog_catalogs",
                protocol.PROTOCOL: b"vgi.v2",
                protocol.PROTOCOL_VERSION: b"2.1.9",
            },
            "protocol_version_mismatch",
            "FAILED_PRECONDITION",
        ),
        (
            {protocol.METHOD: b"dance", protocol.PROTOCOL: b"vgi.v2", protocol.PROTOCOL_VERSION: b"2.2.7"},
            "method_not_implemented",
            "UNIMPLEMENTED",
        ),
    ],
)
def test_requests_that_are_refused(metadata: dict[bytes, bytes], kind: str, code: str):
    batch = pa.RecordBatch.from_arrays([], schema=pa.schema([]))
    with pytest.raises(ProtocolError) as raised:
        read_request(io.BytesIO(stream_bytes(batch.schema, [(batch, metadata)])))
    assert (raised.value.kind, raised.value.code) == (kind, code)
    assert not isinstance(raised.value, Damaged)


@pytest.mark.parametrize("data", [b"x", b"hello, world, this is no arrow", b"\xff\xff\xff\xff\x10\x00\x00\x00"])
def test_what_is_no_message(data: bytes):
    with pytest.raises(Damaged):
        read_request(io.BytesIO(data))


def test_the_end_is_no_error():
    assert read_request(io.BytesIO(b"")) is None


def test_filters_are_what_the_protocol_says():
    """Filter encoding 2: its metadata, a document, and values in columns of their own."""
    batch = ipc.open_stream(golden("filters")).read_next_batch()
    assert batch.schema.metadata == {
        b"vgi_filter_encoding": b"vgi.filters.v2",
        b"vgi_filter_version": b"2",
        b"vgi_evaluation_context": b"vgi.none.v1",
    }
    assert batch.schema.field(0).equals(pa.field("filter_spec", pa.string(), nullable=False))
    assert batch.column("value_0").to_pylist() == [5]
    assert json.loads(batch.column(0)[0].as_py()) == {
        "encoding": "vgi.filters.v2",
        "semantics": "vgi.duckdb.standard.v1",
        "kind": "snapshot",
        "predicates": [
            {
                "id": "query:0",
                "revision": 0,
                "mode": "advisory",
                "source": "query",
                "expression": {
                    "node": "comparison",
                    "op": "gt",
                    "left": {"node": "column_ref", "column_index": 0, "column_name": "id"},
                    "right": {"node": "literal", "value_ref": 0},
                },
            }
        ],
    }


def test_rows_that_are_kept_elsewhere_are_not_taken_for_none():
    nothing = pa.record_batch({"a": pa.array([], pa.int64())})
    for key in (b"vgi_rpc.location", b"vgi_rpc.shm_offset"):
        data = stream_bytes(nothing.schema, [(nothing, {key: b"somewhere"})])
        with pytest.raises(ProtocolError, match="at another address"):
            list(batches_of(opened(io.BytesIO(data))))


def test_arguments_of_calls_and_of_scans():
    arguments = Arguments.of([1, "a", None], {"n": True, "arg_x": 2})
    for write, read in ((call_bytes, call_from), (scan_bytes, scan_from)):
        found = read(write(arguments))
        assert [v.as_py() for v in found.positional] == [1, "a", None]
        assert {n: v.as_py() for n, v in found.named.items()} == {"n": True, "arg_x": 2}
        assert read(write(Arguments())) == Arguments()
