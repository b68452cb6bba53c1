"""Conditions that are pushed down to a worker: read as they were told, and applied where nobody else does."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa
import pytest

from pinakes.worker import TableFunctionGenerator, Worker
from pinakes.worker.client.calls import FunctionCall
from pinakes.worker.exceptions import ProtocolError
from pinakes.worker.serving.dispatch import Caller
from pinakes.worker.wire.filters import METADATA, And, Comparison, In, IsNotNull, IsNull, Or, filters_bytes
from pinakes.worker.wire.messages import Request
from pinakes.worker.wire.methods import METHODS
from pinakes.worker.wire.pushed import pushed_from
from pinakes.worker.wire.records import encode, schema_bytes, stream_of
from pinakes.worker.wire.schemas import INIT_REQUEST

SCHEMA = pa.schema([("id", pa.int64()), ("name", pa.string()), ("day", pa.date32()), ("x", pa.float64())])
NAN = float("nan")
ROWS = pa.record_batch(
    [[1, 2, 3, 4, None], ["a", "b", None, "d", "e"], [1, 2, 3, 4, 5], [0.5, NAN, 2.5, None, -1.0]], schema=SCHEMA
)


def column(name: str) -> dict[str, Any]:
    return {"node": "column_ref", "column_index": SCHEMA.names.index(name), "column_name": name}


def document(*predicates: tuple[str, dict[str, Any]], values: dict[str, pa.Array] | None = None, **other: Any) -> bytes:
    told = [
        {"id": f"query:{i}", "revision": 0, "mode": mode, "source": "query", "expression": expression}
        for i, (mode, expression) in enumerate(predicates)
    ]
    spec = {
        "encoding": "vgi.filters.v2",
        "semantics": "vgi.duckdb.standard.v1",
        "kind": "snapshot",
        "predicates": told,
        **other,
    }
    arrays = {"filter_spec": pa.array([json.dumps(spec)]), **(values or {})}
    return stream_of(pa.RecordBatch.from_pydict(arrays).replace_schema_metadata(METADATA))


def compare(name: str, op: str, ref: int = 0) -> dict[str, Any]:
    return {"node": "comparison", "op": op, "left": column(name), "right": {"node": "literal", "value_ref": ref}}


def test_filters_go_there_and_back():
    filters = (
        Comparison("id", "ge", pa.scalar(5)),
        In("name", pa.array(["a", "b"])),
        Or((IsNull("name"), And((IsNotNull("id"), Comparison("x", "lt", pa.scalar(1.5)))))),
    )
    found = pushed_from(filters_bytes(filters, SCHEMA.names), SCHEMA)
    assert found.required == ()
    assert found.filters[0] == filters[0]
    assert isinstance(found.filters[1], In)
    assert found.filters[1].values.to_pylist() == ["a", "b"]
    assert found.filters[2] == filters[2]


def test_advice_that_is_not_understood_is_left_out():
    """Of an OR, all is left out: what is left would be too narrow."""
    known = {"node": "is_null", "expression": column("id"), "negated": False}
    unknown = {"node": "call", "function": "starts_with", "arguments": []}
    either = {"node": "or", "children": [known, unknown]}
    both = {"node": "and", "children": [known, unknown]}
    data = document(("advisory", unknown), ("advisory", either), ("advisory", both))
    assert pushed_from(data, SCHEMA).filters == (And((IsNull("id"),)),)


@pytest.mark.parametrize(
    "expression",
    [
        {"node": "call", "function": "starts_with", "arguments": []},
        {"node": "not", "expression": {"node": "is_null", "expression": column("id"), "negated": False}},
        {"node": "and", "children": [compare("id", "gt"), {"node": "call", "function": "f", "arguments": []}]},
        compare("id", "distinct_from"),
        compare("name", "eq"),  # a number that no text can be
        compare("x", "gt", 1),  # NaN, which is ordered in more than one way
    ],
)
def test_what_must_be_applied_and_is_not_understood_is_refused(expression: dict[str, Any]):
    values = {"value_0": pa.array([1.5]), "value_1": pa.array([NAN])}
    with pytest.raises(ProtocolError, match="not understood") as raised:
        pushed_from(document(("required", expression), values=values), SCHEMA)
    assert raised.value.kind == "filter_not_supported"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (document(semantics="other"), "semantics"),
        (document(kind="delta"), "snapshot"),
        (
            document(("advisory", {**compare("id", "eq"), "left": {**column("id"), "column_name": "no"}})),
            "and not 'no'",
        ),
        (document(("advisory", compare("id", "eq", 7))), "can't be read"),
        (stream_of(pa.record_batch({"filter_spec": ["[]"]})), "must be encoded as vgi.filters.v2"),
    ],
)
def test_what_is_no_filter(data: bytes, message: str):
    with pytest.raises(ProtocolError, match=message):
        pushed_from(data, SCHEMA)


# --- applied ---------------------------------------------------------------------------------------------------------


class Careless(TableFunctionGenerator):
    """Gives all rows, whatever is asked."""

    FIXED_SCHEMA = SCHEMA
    PROJECTION_PUSHDOWN = FILTER_PUSHDOWN = True

    @classmethod
    def process(cls, params, state, out):
        out.emit(ROWS if params.row_limit is None else ROWS.slice(0, params.row_limit))
        out.finish()


class CarelessWorker(Worker):
    catalog_name, functions = "careless", [Careless]


def rows(filters: bytes | None, *columns: str, limit: int | None = None) -> list[tuple[Any, ...]]:
    call = FunctionCall(name="careless")
    ids = [SCHEMA.names.index(name) for name in columns]
    values = {"bind_call": call.request(), "output_schema": schema_bytes(SCHEMA), "projection_ids": ids}
    request = encode(INIT_REQUEST, {**values, "pushdown_filters": filters, "row_limit": limit})
    _, running = CarelessWorker().dispatcher().stream(Request(METHODS["init"], {"request": request}), Caller())
    found = []
    while (batch := running.next()) is not None:  # type: ignore[union-attr]
        assert batch.schema.names == list(columns)
        found += [tuple(row.values()) for row in batch.to_pylist()] if columns else [()] * batch.num_rows
    return found


@pytest.mark.parametrize(
    ("expression", "value", "expected"),
    [
        (compare("id", "gt"), pa.array([2]), [3, 4]),
        (compare("id", "ne"), pa.array([2]), [1, 3, 4]),
        ({**compare("id", "gt"), "left": compare("id", "gt")["right"], "right": column("id")}, pa.array([2]), [1]),
        (compare("name", "le"), pa.array(["b"]), [1, 2]),
        (compare("x", "gt"), pa.array([1.0]), [2, 3]),  # NaN is the greatest
        (compare("x", "lt"), pa.array([1.0]), [1, None]),
        (compare("x", "ne"), pa.array([0.5]), [2, 3, None]),
        ({"node": "is_null", "expression": column("name"), "negated": False}, pa.array([0]), [3]),
        ({"node": "is_null", "expression": column("x"), "negated": True}, pa.array([0]), [1, 2, 3, None]),
        (
            {
                "node": "in",
                "expression": column("id"),
                "set": {"kind": "literal", "value_ref": 0},
                "negated": False,
            },
            pa.array([[1, 4, None]]),
            [1, 4],
        ),
    ],
)
def test_what_is_required_is_applied(expression: dict[str, Any], value: pa.Array, expected: list[int | None]):
    data = document(("required", expression), values={"value_0": value})
    assert rows(data, "id") == [(i,) for i in expected]
    assert len(rows(data)) == len(expected)
    assert rows(document(("advisory", expression), values={"value_0": value}), "id") == [
        (1,),
        (2,),
        (3,),
        (4,),
        (None,),
    ]


def test_a_limit_counts_the_rows_that_are_left():
    assert rows(None, "name", limit=1) == [("a",)]
    data = document(("required", compare("id", "gt")), values={"value_0": pa.array([2])})
    assert rows(data, "name", limit=1) == [(None,), ("d",)]
