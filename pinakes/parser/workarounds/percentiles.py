"""percentile_cont: DataFusion 55 truncates the weight between two values to six digits.

    percentile_cont(0.9) WITHIN GROUP (ORDER BY x)      of 0, 1000, …, 7000 is 6299.999 instead of 6300

The values are collected in order instead, and the two next to the percentile are interpolated. As in PostgreSQL the
result is a double.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pinakes.core.errors import InvalidArgument
from pinakes.parser.lexer import tokenize
from pinakes.parser.typed import nodes as n
from pinakes.parser.typed.values import DOUBLE, Value

if TYPE_CHECKING:
    from pinakes.parser.typed.writer import Writer

Values = Sequence[tuple[n.Node, Value]]


def percentile(writer: Writer, node: n.Call, arguments: Values, others: Values) -> Value | None:
    """Rewrites percentile_cont(p) WITHIN GROUP (ORDER BY x) and percentile_cont(x, p); None for forms that
    DataFusion refuses.
    """
    within = [(other, value) for other, value in others if other.start > node.arguments_end]
    if not 0 < len(arguments) <= 2 or (len(arguments) == 1 and not within) or node.distinct:
        return None
    if node.over:
        raise writer.refuse(f"{node.name} over a window is not supported: join it with a GROUP BY of the same columns")
    share, sorted_by = arguments[-1], arguments[0] if len(arguments) == 2 else within[0]
    filters = within if len(arguments) == 2 else within[1:]
    order = next((other for other, _ in others if all(other is not f for f, _ in filters)), None)
    behind = [] if order is None else [token.word for token in tokenize(writer.source[order.end : node.end])]
    value = f"CAST({writer.text(*sorted_by)} AS DOUBLE)"
    conditions = " AND ".join([f"{value} IS NOT NULL", *(f"({writer.text(*condition)})" for condition in filters)])
    values = (
        f"array_agg({value} ORDER BY {value}{' DESC' if behind[:1] == ['DESC'] else ''}) FILTER (WHERE {conditions})"
    )
    return Value(_at(_share(writer, node, *share), values), DOUBLE)


def _share(writer: Writer, node: n.Call, percentile: n.Node, value: Value) -> str:
    text = writer.text(percentile, value)
    if isinstance(percentile, n.Number):
        if float(percentile.text) > 1:
            raise InvalidArgument(f"{node.name} takes a percentile between 0 and 1, not {percentile.text}")
        return f"CAST({text} AS DOUBLE)"
    problem = f"concat('{node.name} takes a percentile between 0 and 1, not ', {text})"
    return f"(CASE WHEN ({text}) BETWEEN 0 AND 1 THEN CAST({text} AS DOUBLE) ELSE CAST({problem} AS DOUBLE) END)"


def _at(share: str, values: str) -> str:
    """Returns the value at a fraction of a sorted list, interpolated between two elements."""
    place = f"({share} * (cardinality({values}) - 1))"
    below = f"array_element({values}, CAST(floor({place}) AS BIGINT) + 1)"
    above = f"array_element({values}, CAST(floor({place}) AS BIGINT) + 2)"
    between = f"{below} + ({above} - {below}) * ({place} - floor({place}))"
    return f"(CASE WHEN {place} = floor({place}) THEN {below} ELSE {between} END)"
