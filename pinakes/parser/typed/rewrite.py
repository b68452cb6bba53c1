"""The entry point of this package: rewrites planned text so that its types are right."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

import pyarrow as pa

from pinakes.core.arrays.nan import holds_floats
from pinakes.core.errors import ColumnNotFound, NotSupportedError, listing
from pinakes.core.names import quote, text_literal
from pinakes.parser.lexer import tokenize
from pinakes.parser.typed import WEIGHED, arithmetic, bounds, calls, casts, comparison, json, temporal
from pinakes.parser.typed import nodes as n
from pinakes.parser.typed.coercion import unified
from pinakes.parser.typed.reader import COMPARISONS, Unread, read
from pinakes.parser.typed.references import references, references_at_most
from pinakes.parser.typed.texts import subscript, written
from pinakes.parser.typed.values import (
    BOOLEAN,
    Environment,
    Output,
    Value,
    bound_of,
    is_decimal,
    is_float,
    is_integer,
    is_nested,
    is_struct,
    is_text,
    usual_nan,
)
from pinakes.parser.typed.writer import Scope, Visitors, Writer, member
from pinakes.parser.workarounds.writing import is_repeatable


class Rewritten(NamedTuple):
    text: str
    complete: bool
    """False if some form or type was unknown, so that no rule was applied to it."""
    unchecked: bool = False
    """Whether numbers of unknown types are added, multiplied or summed, so that an overflow would go unnoticed."""
    references: int = 0
    """The relations of its plan."""
    types: tuple[pa.DataType, ...] | None = None
    """The types of the query's columns; None unless all of them are known."""


_COMPUTES = re.compile(r"[\w)\]'\"]\s*(?:[+-]|\*(?!\s*(?:,|\)|;|\bFROM\b|$)))\s*[\w('\"$-]|\bsum\s*\(", re.IGNORECASE)


_UNNEST = re.compile(r"\bunnest\b", re.IGNORECASE)
"""It repeats the rows of its own query."""


def rewrite(text: str, environment: Environment, tree: n.Query | None = None, *, is_part: bool = False) -> Rewritten:
    """Returns the text to plan; `tree` is the tree of the text, if it was parsed before. `is_part`: it is a view or
    another part of a statement, whose rows the rest of it may repeat."""
    try:
        tree = read(text) if tree is None else tree
        writer = Writer(text, environment, VISITORS, is_part=is_part or _UNNEST.search(text) is not None)
        found, outputs = writer.query(tree, None)
        if (
            writer.checks
        ):  # most columns have smaller values than their types allow: statistics may show that no check is needed
            writer.precise = True
            found, outputs = writer.query(tree, None)
    except (Unread, RecursionError):
        bounds.refuse_unchecked(tokenize(text))
        return Rewritten(
            _with_doubles(text),
            complete=False,
            unchecked=_COMPUTES.search(text) is not None,
            references=references_at_most(text),
        )
    types = tuple(output.type for output in outputs or () if output.type is not None)
    return Rewritten(
        text if found is None else text[: tree.start] + found + text[tree.end :],
        not writer.incomplete,
        writer.unchecked,
        tree.references or references(tree),
        types if outputs is not None and len(types) == len(outputs) else None,
    )


# --- visitors of nodes without rules of their own ------------------------------------------------------------------


def _with_doubles(text: str) -> str:
    """Writes numbers with an exponent as doubles in a text that can't be parsed: DataFusion reads them as decimals."""
    parts, at = list[str](), 0
    for token in tokenize(text):
        if token.kind == "number" and "e" in token.text.lower():
            parts += (text[at : token.start], f"CAST('{token.text.replace('_', '')}' AS DOUBLE)")
            at = token.end
    return "".join((*parts, text[at:]))


def _constant(type: pa.DataType | None) -> Callable[[Writer, n.Node, Scope], Value]:
    return lambda writer, node, scope: Value(None, type)


def _untyped(writer: Writer, node: n.Node, scope: Scope) -> Value:
    return writer.composed_value(node, writer.all_children(node, scope), None)


def _struct(writer: Writer, node: n.Struct, scope: Scope) -> Value:
    values = writer.all_children(node, scope)
    varying = [(child, v) for child, v in values if not isinstance(child, n.Text | n.Number | n.Null | n.Boolean)]
    template = writer.composed(node, [(child, f"c{at}") for at, (child, _) in enumerate(varying)])
    type = writer.typed_by(template or writer.source[node.start : node.end], [v for _, v in varying])
    return writer.composed_value(node, values, type)


def _row(writer: Writer, node: n.Row, scope: Scope) -> Value:
    values = writer.all_children(node, scope)
    types = [value.type for _, value in values]
    known = [pa.field(f"c{at}", type) for at, type in enumerate(types) if type is not None]
    type = pa.struct(known) if len(known) == len(types) else None
    return writer.composed_value(node, values, type)


def _truth(writer: Writer, node: n.Node, scope: Scope) -> Value:
    return writer.composed_value(node, writer.all_children(node, scope), BOOLEAN)


def _test(writer: Writer, node: n.Test, scope: Scope) -> Value:
    values = writer.all_children(node, scope)
    if len(values) == 2 and (is_text(values[1][1].type) or isinstance(values[1][0], n.Parameter)):
        values = bounds.with_pattern(writer, values)
    return writer.composed_value(node, values, BOOLEAN)


def _column(writer: Writer, node: n.Column, scope: Scope) -> Value:
    found = scope.find(node.parts)
    writer.incomplete |= found.type is None
    bound = bound_of(found.type) if found.bound is None else found.bound
    value = Value(found.written, found.type, bound, is_uuid=found.is_uuid, stored=found.stored)
    is_column = found.name is not None
    return value if is_column and not is_struct(found.type) else _read(writer, node, value)


def _read(writer: Writer, node: n.Node, value: Value) -> Value:
    """Returns a struct of a table, or a member of one, with one NaN: scans do not read all of a struct for that."""
    if not value.stored:
        return value
    text = writer.text(node, value)
    if is_float(value.type):
        return usual_nan(text, value.type)._replace(stored=True)
    if value.type is None or not holds_floats(value.type):
        return value
    name = writer.environment.bounded("usual_nan", value.type)
    return Value(f"{quote(name)}({text})", value.type, wide=f"({text})", stored=True)


def _parameter(writer: Writer, node: n.Parameter, scope: Scope) -> Value:
    type = writer.environment.parameter(node.name)
    return Value(None, type, bound_of(type))


def _paren(writer: Writer, node: n.Paren, scope: Scope) -> Value:
    inner = writer.value(node.inner, scope)
    return Value(
        writer.composed(node, ((node.inner, inner.text),)), inner.type, inner.bound, inner.wide and f"({inner.wide})"
    )


def _scalar(writer: Writer, node: n.Scalar, scope: Scope) -> Value:
    text, outputs = writer.query(node.query, scope)
    output = outputs[0] if outputs is not None and len(outputs) == 1 else Output(None, None)
    bound = bound_of(output.type) if output.bound is None else output.bound
    return Value(writer.composed(node, ((node.query, text),)), output.type, bound)


def _exists(writer: Writer, node: n.Exists, scope: Scope) -> Value:
    text, _ = writer.query(node.query, scope)
    return Value(writer.composed(node, ((node.query, text),)), BOOLEAN)


def _index(writer: Writer, node: n.Index, scope: Scope) -> Value:
    values = _of_plain_struct(writer.all_children(node, scope))
    base, type = values[0][1].type, None
    if is_text(base) and all(is_integer(v.type) or isinstance(i, n.Null) for i, v in values[1:]):
        return subscript(writer, node, values)
    if base is not None and not node.slices and len(node.items) == 1:
        key = node.items[0]
        if pa.types.is_struct(base) and isinstance(key, n.Text):
            type = member(base, (key.value,))
        elif pa.types.is_map(base):
            type = base.item_type
        elif pa.types.is_list(base) or pa.types.is_large_list(base):
            type = base.value_type
    elif node.slices:
        type = base
    found = writer.composed_value(node, values, type)
    return _read(writer, node, found._replace(stored=values[0][1].stored)) if is_struct(base) else found


def _field(writer: Writer, node: n.Field, scope: Scope) -> Value:
    """Writes (a).field as (a)['field']: DataFusion has the former for names only."""
    ((base, value),) = _of_plain_struct(writer.all_children(node, scope))
    type = member(value.type, (node.name,))
    if type is None:
        if value.type is not None and is_struct(value.type):
            names = [field.name for field in value.type.fields]
            raise ColumnNotFound(f"field {node.name} of the struct does not exist; there is: {listing(names)}")
        return writer.composed_value(node, [(base, value)], None)
    found = Value(f"{writer.text(base, value)}[{text_literal(node.name)}]", type, bound_of(type), stored=value.stored)
    return _read(writer, node, found)


def _of_plain_struct(values: list[tuple[n.Node, Value]]) -> list[tuple[n.Node, Value]]:
    """Returns the values with a struct of a table, the first of them, as it is stored: only its field is read."""
    base, value = values[0]
    if value.stored and is_struct(value.type) and value.wide is not None:
        return [(base, value._replace(text=value.wide, wide=None)), *values[1:]]
    return values


def _array(writer: Writer, node: n.Array, scope: Scope) -> Value:
    values = unified(writer, writer.all_children(node, scope))
    type = (
        writer.typed_by(f"[{', '.join(f'c{i}' for i in range(len(values)))}]", [v for _, v in values])
        if values
        else writer.typed_by("[]", ())
    )
    return writer.composed_value(node, bounds.put_together(writer, values), type)


def _unary(writer: Writer, node: n.Unary, scope: Scope) -> Value:
    if node.operator == "NOT":
        return _truth(writer, node, scope)
    return arithmetic.negated(writer, node, scope)


_BITS = frozenset({"&", "|", "<<", ">>"})
"""Operators that PostgreSQL evaluates from left to right, and DataFusion with different precedence."""


def _binary(writer: Writer, node: n.Binary, scope: Scope) -> Value:
    operator = node.operator
    if operator in COMPARISONS or operator == "IS DISTINCT FROM":
        return comparison.compared(writer, node, scope)
    if operator in ("AND", "OR"):
        return _truth(writer, node, scope)
    if operator in ("+", "-", "*", "/", "%"):
        return arithmetic.computed(writer, node, scope)
    if operator == "//":
        return arithmetic.integer_quotient(writer, node, scope)
    values = writer.all_children(node, scope)
    if operator in _BITS and isinstance(node.right, n.Binary) and node.right.operator in _BITS:
        raise NotSupportedError(
            f"{operator} and {node.right.operator} without parentheses are not supported: write them"
        )
    if operator in _BITS and any(is_decimal(value.type) for _, value in values):
        raise NotSupportedError(f"{operator} is for integers of up to 64 bits: write CAST(… AS BIGINT)")
    if operator in json.OPERATORS:
        return json.operator(writer, node, values)
    if operator == "||":
        lists = [(child, value) for child, value in values if is_nested(value.type)]
        if len(lists) == 1 and any(isinstance(child, n.Null) for child, _ in values):
            return Value(writer.text(*lists[0]), lists[0][1].type)  # NULL would become an element of the list
        values = [(child, _appended(writer, child, written(writer, child, value))) for child, value in values]
        values = bounds.put_together(writer, values)
    if operator in ("@>", "<@"):
        return _contains(writer, node, values)
    if operator.startswith(("~", "!~")):
        values = bounds.with_pattern(writer, values)
        return writer.composed_value(node, values, BOOLEAN)
    found = writer.composed_value(node, values, writer.typed_by(f"c0 {operator} c1", [v for _, v in values]))
    return found._replace(long=operator == "||" and any(WEIGHED in (v.text or "") for _, v in values))


def _contains(writer: Writer, node: n.Binary, values: list[tuple[n.Node, Value]]) -> Value:
    """Returns list containment, where a list with a NULL is contained in none: in DataFusion NULL equals NULL here,
    and a constant NULL is in every list.
    """
    found = writer.composed_value(node, values, BOOLEAN)
    around, inner = (node.left, node.right) if node.operator == "@>" else (node.right, node.left)
    if isinstance(inner, n.Array) and all(isinstance(item, n.Number | n.Text) for item in inner.items):
        return found
    texts = {id(child): writer.text(child, value) for child, value in values}
    if not (is_repeatable(node) and len(texts[id(around)]) + len(texts[id(inner)]) < _LONGEST):
        raise writer.refuse(f"{node.operator} of such long operands is not supported: compute them in a subquery first")
    is_null = f"WHEN {texts[id(around)]} IS NULL OR {texts[id(inner)]} IS NULL THEN NULL"
    has_null = f"WHEN array_position({texts[id(inner)]}, NULL) IS NOT NULL THEN false"
    return Value(f"(CASE {is_null} {has_null} ELSE {writer.text(node, found)} END)", BOOLEAN)


_LONGEST = 300
"""Maximum characters of operands that are duplicated in the text: nested ones would grow exponentially."""


def _appended(writer: Writer, node: n.Node, value: Value) -> Value:
    """Returns an operand of ||, which has lower precedence than + here and that of * in DataFusion."""
    if not isinstance(node, n.Binary) or node.operator == "||":
        return value
    return Value(f"({writer.text(node, value)})", value.type, value.bound)


VISITORS: Visitors = {
    n.Number: arithmetic.number,
    n.Text: _constant(pa.string()),
    n.Bytes: _constant(pa.binary()),
    n.Null: _constant(pa.null()),
    n.Boolean: _constant(BOOLEAN),
    n.TypedText: casts.typed_text,
    n.Interval: temporal.interval,
    n.Column: _column,
    n.Parameter: _parameter,
    n.Star: _constant(None),
    n.AllItems: _constant(None),
    n.Unary: _unary,
    n.Binary: _binary,
    n.Test: _test,
    n.Between: comparison.between,
    n.InList: comparison.in_list,
    n.InQuery: comparison.in_query,
    n.Quantified: comparison.quantified,
    n.Case: comparison.case,
    n.Cast: casts.cast,
    n.Call: calls.call,
    n.Extract: calls.extract,
    n.Paren: _paren,
    n.Row: _row,
    n.Array: _array,
    n.Struct: _struct,
    n.Index: _index,
    n.Field: _field,
    n.AtTimeZone: temporal.at_time_zone,
    n.Scalar: _scalar,
    n.Exists: _exists,
}
