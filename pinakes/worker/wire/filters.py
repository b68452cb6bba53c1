"""Predicates that are pushed down to a function: a JSON tree, with its values as columns of one Arrow row. Filter
encoding 2 of the protocol; `pushed.py` decodes it.

    filter_spec   {"encoding": "vgi.filters.v2", "semantics": …, "kind": "snapshot", "predicates": [
                    {"id": "query:0", "revision": 0, "mode": "advisory", "source": "query", "expression":
                      {"node": "comparison", "op": "gt", "left": {"node": "column_ref", "column_index": 0,
                       "column_name": "id"}, "right": {"node": "literal", "value_ref": 0}}}, …]}
    value_0       the value of value_ref 0; for "in", a list

All predicates must hold. Those that this side pushes down are "advisory": it checks every row again, so a function may
use those that it supports and ignore the rest.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from pinakes.worker.wire.records import stream_of

ENCODING, SEMANTICS = "vgi.filters.v2", "vgi.duckdb.standard.v1"
"""SEMANTICS is the exact meaning of the predicates, including NaN; a function declares that it supports it."""
METADATA = {
    b"vgi_filter_encoding": ENCODING.encode(),
    b"vgi_filter_version": b"2",
    b"vgi_evaluation_context": b"vgi.none.v1",
}
OPERATORS = ("eq", "ne", "gt", "ge", "lt", "le")


@dataclass(frozen=True, slots=True)
class Comparison:
    """column op value, with op one of eq, ne, gt, ge, lt, le."""

    column: str
    op: str
    value: pa.Scalar


@dataclass(frozen=True, slots=True)
class IsNull:
    column: str


@dataclass(frozen=True, slots=True)
class IsNotNull:
    column: str


@dataclass(frozen=True, slots=True)
class In:
    """The column has one of these values."""

    column: str
    values: pa.Array


@dataclass(frozen=True, slots=True)
class And:
    children: tuple[Filter, ...]


@dataclass(frozen=True, slots=True)
class Or:
    children: tuple[Filter, ...]


Filter = Comparison | IsNull | IsNotNull | In | And | Or


def filters_bytes(filters: Sequence[Filter], columns: Sequence[str]) -> bytes:
    """Encodes filters. `columns` are those of the function's complete output, whose indices are included."""
    values: list[pa.Array] = []
    predicates = [
        {
            "id": f"query:{number}",
            "revision": 0,
            "mode": "advisory",
            "source": "query",
            "expression": _expression(one, columns, values),
        }
        for number, one in enumerate(filters)
    ]
    spec = {"encoding": ENCODING, "semantics": SEMANTICS, "kind": "snapshot", "predicates": predicates}
    fields = [pa.field("filter_spec", pa.string(), nullable=False)]
    fields += [pa.field(f"value_{i}", value.type) for i, value in enumerate(values)]
    schema = pa.schema(fields, metadata=METADATA)
    return stream_of(pa.RecordBatch.from_arrays([pa.array([json.dumps(spec)]), *values], schema=schema))


def conjuncts(filters: Sequence[Filter]) -> Iterator[Filter]:
    """Yields the predicates that must all hold, flattening `and`."""
    for one in filters:
        if isinstance(one, And):
            yield from conjuncts(one.children)
        else:
            yield one


def _expression(one: Filter, columns: Sequence[str], values: list[pa.Array]) -> dict[str, Any]:
    match one:
        case And(children) | Or(children):
            parts = [_expression(child, columns, values) for child in children]
            return parts[0] if len(parts) == 1 else {"node": "and" if isinstance(one, And) else "or", "children": parts}
        case Comparison(column, op, value):
            values.append(pa.array([value.as_py()], value.type))
            literal = {"node": "literal", "value_ref": len(values) - 1}
            return {"node": "comparison", "op": op, "left": _column(column, columns), "right": literal}
        case In(column, many):
            values.append(pa.array([many.to_pylist()], pa.list_(many.type)))
            literal_node = {"kind": "literal", "value_ref": len(values) - 1}
            return {"node": "in", "expression": _column(column, columns), "set": literal_node, "negated": False}
        case IsNull(column) | IsNotNull(column):
            negated = isinstance(one, IsNotNull)
            return {"node": "is_null", "expression": _column(column, columns), "negated": negated}


def _column(column: str, columns: Sequence[str]) -> dict[str, Any]:
    return {"node": "column_ref", "column_index": columns.index(column), "column_name": column}
