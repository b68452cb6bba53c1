"""a IS NOT DISTINCT FROM b: DataFusion 55 parses all that follows as a part of b. In joins of more than two tables
it compares either all keys in this way or none (`eliminate_cross_join`), so that rows are lost, or NULL = NULL
is true.

    a IS NOT DISTINCT FROM b AND c        (a IS NOT DISTINCT FROM b) AND c
    … JOIN y ON x.a IS NOT DISTINCT FROM y.b
                                          … ON ((x.a IS NULL) = (y.b IS NULL) AND coalesce(x.a, 0) = coalesce(y.b, 0))
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pyarrow as pa

from pinakes.parser.typed import nodes as n
from pinakes.parser.typed.values import BOOLEAN, Value, is_date, is_decimal, is_float, is_integer, is_text, is_timestamp
from pinakes.parser.workarounds.writing import all_below, is_repeatable

if TYPE_CHECKING:
    from pinakes.parser.typed.writer import Writer


def distinct(writer: Writer, node: n.Binary, values: Sequence[tuple[n.Node, Value]]) -> Value:
    """Rewrites IS [NOT] DISTINCT FROM. A comparison of two columns may become a join, and is written as join keys."""
    text = writer.composed(node, [(child, value.text) for child, value in values])
    text = f"({text or writer.source[node.start : node.end]})"
    sides = [(writer.text(child, value), _any_value(value.type)) for child, value in values]
    words = writer.source[node.left.end : node.right.start].upper().split()
    if "NOT" not in words or not all(_has_column(child) for child, _ in values) or not is_repeatable(node):
        return Value(text, BOOLEAN)
    if any(other is None for _, other in sides):
        return Value(f"coalesce({text}, NULL)", BOOLEAN)  # not a join key: correct, but a nested loop over all pairs
    (left, left_other), (right, right_other) = sides
    nulls = f"(({left}) IS NULL) = (({right}) IS NULL)"
    return Value(f"({nulls} AND coalesce({left}, {left_other}) = coalesce({right}, {right_other}))", BOOLEAN)


def _has_column(node: n.Node) -> bool:
    return any(isinstance(part, n.Column) for part in all_below(node))


def _any_value(type: pa.DataType | None) -> str | None:
    """Returns any constant of a type: it is compared only with itself."""
    if is_integer(type):
        return "0"
    if is_text(type):
        return "''"
    if type is None or not (is_decimal(type) or is_float(type) or is_date(type) or is_timestamp(type)):
        return None
    if type == pa.float32():
        return "CAST(0 AS REAL)"
    if is_float(type):
        return "CAST(0 AS DOUBLE)"
    if is_decimal(type):
        return f"CAST(0 AS DECIMAL({type.precision}, {type.scale}))"
    if is_date(type):
        return "DATE '1970-01-01'"
    if type.unit == "ns":
        return None
    return f"CAST('1970-01-01' AS TIMESTAMP(6){' WITH TIME ZONE' if type.tz is not None else ''})"
