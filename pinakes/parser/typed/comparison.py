"""Comparisons, and expressions that combine several values: CASE, COALESCE, IN, BETWEEN."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import pyarrow as pa
from pyarrow.types import is_binary

from pinakes.core.errors import NotSupportedError
from pinakes.parser.typed import nodes as n
from pinakes.parser.typed.casts import binary
from pinakes.parser.typed.coercion import cast_alike, common_type, joined_type, unified, with_typed_moments
from pinakes.parser.typed.temporal import is_length, lengths
from pinakes.parser.typed.texts import uuid_text
from pinakes.parser.typed.values import BOOLEAN, Value, bound_of, is_float, is_nested, is_text, is_timestamp
from pinakes.parser.workarounds.distinct_from import distinct

if TYPE_CHECKING:
    from pinakes.parser.typed.writer import Scope, Writer

_ORDERED = frozenset({"<", "<=", ">", ">="})
_ALIKE = frozenset(
    type.id
    for type in (
        *(pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()),
        *(pa.string(), pa.large_string(), pa.string_view(), pa.bool_(), pa.null()),
    )
)
"""Types that DataFusion compares rightly with each other."""


def aligned(
    writer: Writer, values: Sequence[tuple[n.Node, Value]], *, is_column: bool = False
) -> list[tuple[n.Node, Value]]:
    """Casts values that are compared; `is_column` if they get one common type first, like a column. DataFusion
    itself converts a text that is compared with a number.
    """
    if not any(value.type is not None and (value.type.id not in _ALIKE or value.is_uuid) for _, value in values):
        return list(values)
    if any(value.type is not None and is_binary(value.type) for _, value in values):
        values = [(node, Value(text, pa.binary()) if (text := binary(node)) else value) for node, value in values]
    found = lengths(writer, values)
    if found is not None:
        return found
    if any(value.is_uuid for _, value in values):
        _refuse_bytes(value.type for _, value in values)
        values = [
            (node, uuid_text(writer, node, value) if _is_text_constant(node, value) else value)
            for node, value in values
        ]
    return cast_alike(writer, _in_micros(writer, with_typed_moments(writer, values)), is_column=is_column)


def _in_micros(writer: Writer, values: list[tuple[n.Node, Value]]) -> list[tuple[n.Node, Value]]:
    """Returns seconds and milliseconds next to finer timestamps as microseconds. DataFusion would round a constant to
    the unit of the other side.
    """
    units = {value.type.unit for _, value in values if value.type is not None and is_timestamp(value.type)}
    if len(units) < 2 or not units & {"s", "ms"}:
        return values
    found = list[tuple[n.Node, Value]]()
    for node, value in values:
        if value.type is not None and is_timestamp(value.type) and value.type.unit in ("s", "ms"):
            type = pa.timestamp("us", value.type.tz)
            zone = " WITH TIME ZONE" if value.type.tz is not None else ""
            value = Value(f"(CAST({writer.text(node, value)} AS TIMESTAMP(6){zone}) + INTERVAL '0 days')", type)
        found.append((node, value))
    return found


def _is_text_constant(node: n.Node, value: Value) -> bool:
    return isinstance(node, n.Text | n.Parameter) and is_text(value.type)


def compared(writer: Writer, node: n.Binary, scope: Scope) -> Value:
    if isinstance(node.left, n.Row) or isinstance(node.right, n.Row):
        values = writer.all_children(node, scope)
        if node.operator == "IS DISTINCT FROM":
            return distinct(writer, node, values)
        return writer.composed_value(node, values, BOOLEAN)
    values = writer.all_children(node, scope)
    if node.operator in _ORDERED:
        _refuse_nested(writer, values)
    values = aligned(writer, values)
    if node.operator == "IS DISTINCT FROM":
        return distinct(writer, node, values)
    return writer.composed_value(node, values, BOOLEAN)


def between(writer: Writer, node: n.Between, scope: Scope) -> Value:
    values = writer.all_children(node, scope)
    _refuse_nested(writer, values)
    return writer.composed_value(node, aligned(writer, values), BOOLEAN)


def _refuse_nested(writer: Writer, values: Sequence[tuple[n.Node, Value]]) -> None:
    """Refuses order comparisons of lists and structs: a NULL in a list is larger than any value in PostgreSQL, and in
    ORDER BY, but smaller in DataFusion's comparisons.
    """
    if any(is_nested(value.type) or isinstance(node, n.Struct) for node, value in values):
        raise NotSupportedError(
            "lists and structs can only be compared with = and <>: compare their elements or fields"
        )


def _refuse_bytes(types: Iterable[pa.DataType | None]) -> None:
    """Refuses bytes beside a uuid: it is a text here, and would be equal to none."""
    if any(type is not None and is_binary(type) for type in types):
        raise NotSupportedError("a UUID can't be compared with bytes: write the UUID as a text")


def in_list(writer: Writer, node: n.InList, scope: Scope) -> Value:
    values = writer.all_children(node, scope)
    if any(isinstance(child, n.Row) for child, _ in values):
        return writer.composed_value(node, values, BOOLEAN)
    constants = [child for child in node.items if not isinstance(child, n.Column)]
    return writer.composed_value(node, aligned(writer, values, is_column=len(constants) > 1), BOOLEAN)


def in_query(writer: Writer, node: n.InQuery, scope: Scope) -> Value:
    operand = writer.value(node.operand, scope)
    text, outputs = writer.query(node.query, scope)
    if outputs is not None and len(outputs) == 1:
        if operand.is_uuid or outputs[0].is_uuid:
            _refuse_bytes((operand.type, outputs[0].type))
        type = common_type((operand.type, outputs[0].type))
        if is_length(operand.type) or is_length(outputs[0].type):
            raise NotSupportedError("IN (SELECT …) with intervals is not supported: compare date_part('epoch', …)")
        if type is not None:
            text = writer.query(node.query, scope, [type])[0]
            operand = unified(writer, [(node.operand, operand), (node.operand, Value(None, type))])[0][1]
    return Value(writer.composed(node, ((node.operand, operand.text), (node.query, text))), BOOLEAN)


def quantified(writer: Writer, node: n.Quantified, scope: Scope) -> Value:
    operand = writer.value(node.operand, scope)
    if not isinstance(node.query, n.Query):
        return writer.composed_value(
            node, [(node.operand, operand), (node.query, writer.value(node.query, scope))], BOOLEAN
        )
    text, outputs = writer.query(node.query, scope)
    if outputs is not None and len(outputs) == 1 and common_type((operand.type, outputs[0].type)) is not None:
        raise NotSupportedError("ANY and ALL over another type are not supported here: cast one side")
    return Value(writer.composed(node, ((node.operand, operand.text), (node.query, text))), BOOLEAN)


def _searched(writer: Writer, node: n.Case, pieces: list[tuple[n.Node, Value]], scope: Scope) -> Value:
    """Rewrites CASE x WHEN y … to CASE WHEN x = y …, since the former distinguishes -0.0 and 0.0."""
    operand, *conditions = (writer.text(child, value) for child, value in pieces)
    results = unified(writer, [(r, writer.value(r, scope)) for r in node.results])
    texts = [writer.text(child, value) for child, value in results]
    whens = [f"WHEN {operand} = {c} THEN {r}" for c, r in zip(conditions, texts, strict=False)]
    whens += [f"ELSE {text}" for text in texts[len(conditions) :]]
    type = joined_type(writer.environment, [value.type for _, value in results])
    return Value(f"CASE {' '.join(whens)} END", type, bound_of(type))


def case(writer: Writer, node: n.Case, scope: Scope) -> Value:
    conditions = [(c, writer.value(c, scope)) for c in node.conditions]
    pieces = list[tuple[n.Node, Value]]()
    if node.operand is not None:
        pieces += aligned(writer, [(node.operand, writer.value(node.operand, scope)), *conditions])
        if any(is_float(value.type) for _, value in pieces):
            return _searched(writer, node, pieces, scope)
    else:
        pieces += conditions
    results = unified(writer, [(r, writer.value(r, scope)) for r in node.results])
    type = joined_type(writer.environment, [value.type for _, value in results])
    bounds = [value.bound for _, value in results if not pa.types.is_null(value.type or pa.int64())]
    found = writer.composed_value(node, [*pieces, *results], type)
    bound = None if any(b is None for b in bounds) or not bounds else max(b for b in bounds if b is not None)
    return Value(found.text, type, bound if bound is not None else bound_of(type))
