"""Conditions that are pushed down to a function: a tree as JSON, its values as columns of one Arrow row.

    filter_spec   [{"type": "constant", "column_name": "id", "column_index": 0, "op": "gt", "value_ref": 0}, …]
    _val_0        the value that value_ref 0 means; of "in", a list

All conditions of the list must hold. Who pushes them down checks every row once more, so that a function may use what
it understands and leave the rest.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from pinakes.worker.exceptions import ProtocolError
from pinakes.worker.wire.records import batch_of, stream_of

VERSION_KEY, VERSION = b"vgi_filter_version", b"1"
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
    """`columns` are those of the function's whole output, whose places are told, too."""
    values: list[pa.Array] = []
    spec = [_spec(one, columns, values) for one in filters]
    fields = [pa.field("filter_spec", pa.string(), metadata={VERSION_KEY: VERSION})]
    fields += [pa.field(f"_val_{i}", value.type) for i, value in enumerate(values)]
    arrays = [pa.array([json.dumps(spec)]), *values]
    return stream_of(pa.RecordBatch.from_arrays(arrays, schema=pa.schema(fields)))


def filters_from(data: bytes | None) -> tuple[Filter, ...]:
    """What stands in such bytes. A kind of condition that is not known is left out: the rows are checked anyway."""
    if not data:
        return ()
    batch = batch_of(data, "pushed filters")
    if batch.num_columns == 0 or batch.num_rows != 1:
        raise ProtocolError("pushed filters must be one row")
    try:
        spec = json.loads(batch.column(0)[0].as_py() or "[]")
        read = [_read(node, batch) for node in spec]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ProtocolError(f"pushed filters can't be read: {error}") from error
    return tuple(found for found in read if found is not None)


def conjuncts(filters: Sequence[Filter]) -> Iterator[Filter]:
    """The conditions that must all hold, whether or not they stand in an `and`."""
    for one in filters:
        if isinstance(one, And):
            yield from conjuncts(one.children)
        else:
            yield one


def _spec(one: Filter, columns: Sequence[str], values: list[pa.Array]) -> dict[str, Any]:
    match one:
        case And(children) | Or(children):
            kind = "and" if isinstance(one, And) else "or"
            return {"type": kind, "children": [_spec(child, columns, values) for child in children]}
        case Comparison(column, op, value):
            values.append(pa.array([value.as_py()], value.type))
            return {"type": "constant", **_place(column, columns), "op": op, "value_ref": len(values) - 1}
        case In(column, many):
            values.append(pa.array([many.to_pylist()], pa.list_(many.type)))
            return {"type": "in", **_place(column, columns), "value_ref": len(values) - 1}
        case IsNull(column):
            return {"type": "is_null", **_place(column, columns)}
        case IsNotNull(column):
            return {"type": "is_not_null", **_place(column, columns)}


def _place(column: str, columns: Sequence[str]) -> dict[str, Any]:
    return {"column_name": column, "column_index": columns.index(column)}


def _read(node: dict[str, Any], batch: pa.RecordBatch) -> Filter | None:
    match node["type"]:
        case "and" | "or":
            children = [_read(child, batch) for child in node["children"]]
            known = tuple(child for child in children if child is not None)
            if node["type"] == "and":
                return And(known) if known else None
            return Or(known) if len(known) == len(children) else None
        case "constant" if node["op"] in OPERATORS:
            return Comparison(node["column_name"], node["op"], _value(node, batch))
        case "in":
            return In(node["column_name"], _value(node, batch).values)
        case "is_null":
            return IsNull(node["column_name"])
        case "is_not_null":
            return IsNotNull(node["column_name"])
    return None


def _value(node: dict[str, Any], batch: pa.RecordBatch) -> pa.Scalar:
    return batch.column(f"_val_{int(node['value_ref'])}")[0]
