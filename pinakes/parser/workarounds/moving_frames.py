"""Aggregates over frames whose start moves: DataFusion 55 subtracts the rows that leave the frame.

    sum(x) OVER (ORDER BY k ROWS 1 PRECEDING)      is NaN for all rows after a NaN or infinity
                                                   1e17, 1, 1: is 0 in the third row, since 1e17 + 1 is 1e17

NaN and infinities are excluded from the running value and counted separately. A sum or an average is computed from the
counts; another statistic is NaN, as in PostgreSQL.

Sums, averages and variances are computed exactly and rounded at the end: doubles are multiples of a power of two, and
the factors are added as decimals of 76 digits. A variance is (n * sum(x * x) - sum(x) * sum(x)) / n / n. Only that of
numbers from 2^87 on is DataFusion's.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pinakes.parser.lexer import tokenize
from pinakes.parser.typed import nodes as n
from pinakes.parser.typed.values import DOUBLE, Value, is_decimal, is_float, is_integer
from pinakes.parser.workarounds.writing import is_repeatable

if TYPE_CHECKING:
    from pinakes.parser.typed.writer import Writer

Values = Sequence[tuple[n.Node, Value]]

_AVERAGES = frozenset({"avg", "mean"})
_OF_TWO_ROWS = frozenset("stddev stddev_samp var var_samp var_sample variance".split())
"""Statistics that are NULL for a single row."""
_VARIANCES = _OF_TWO_ROWS | frozenset("stddev_pop var_pop var_population".split())
_REFUSED = frozenset(
    "covar covar_samp covar_pop corr regr_slope regr_intercept regr_r2 regr_avgx regr_avgy regr_sxx regr_syy "
    "regr_sxy".split()
)
_FRAMES = frozenset({"ROWS", "RANGE", "GROUPS"})


def _power(exponent: int) -> str:
    return f"CAST('{2.0**exponent!r}' AS DOUBLE)"


_INFINITY = "CAST('Infinity' AS DOUBLE)"
_SUMMED = ((-68, -288), (100, -120))
"""Logarithms of upper limits of numbers that are added together, and of their unit: 2^30 have a sum of 76 digits."""
_SQUARED = ((-7, -107), (40, -60), (87, -13))
"""The same for the largest number of a frame, whose squares are added: 2^26 times their sum has 76 digits."""


def moving(writer: Writer, node: n.Call, arguments: Values, others: Values) -> Value | None:
    """Rewrites a call; None if it needs no change."""
    if not node.over or node.distinct or not 0 < len(arguments) <= 2:
        return None
    if node.name not in _AVERAGES | _VARIANCES | _REFUSED | {"sum"} or not _moves(writer, node):
        return None
    type = arguments[0][1].type
    is_exact = is_integer(type) or is_decimal(type)
    if node.name in _REFUSED and (is_exact or is_float(type)):
        raise writer.refuse(
            f"{node.name} over a frame whose start moves is not supported: numbers that have left the frame would "
            "change its digits. Start the frame with UNBOUNDED PRECEDING"
        )
    if not all(is_repeatable(a) for a, _ in arguments):
        return None
    behind, at = "", node.arguments_end
    for other, value in others:  # FILTER and OVER
        behind += writer.source[at : other.start] + writer.text(other, value)
        at = other.end
    behind += writer.source[at : node.end]
    text = writer.text(*arguments[0])
    x = text if type == DOUBLE else f"arrow_cast({text}, 'Float64')"
    if node.name in _VARIANCES and (is_exact or is_float(type)):
        return Value(_variance(node.name, x, behind), DOUBLE)
    if node.name in _AVERAGES and is_integer(type):
        summed = f"sum(arrow_cast({text}, 'Decimal128(38, 0)')){behind}"
        return Value(f"(arrow_cast({summed}, 'Float64') / count({text}){behind})", DOUBLE)
    return Value(_sum(node.name, x, behind), DOUBLE) if is_float(type) else None


def _sum(name: str, x: str, behind: str) -> str:
    """Returns the text of a sum or an average of doubles."""
    finite = f"abs({x}) < {_INFINITY}"
    left_out = f"CASE WHEN NOT ({finite}) THEN {x} END"
    rows = f"count(CASE WHEN {finite} THEN 1 END){behind}"
    parts, above = list[str](), ""
    for limit, unit in _SUMMED:
        factor = _factor(x, f"{above}abs({x}) < {_power(limit)}", unit)
        parts.append(f"arrow_cast(sum({factor}){behind}, 'Float64') * {_power(unit)}")
        above = f"abs({x}) >= {_power(limit)} AND "
    parts.append(f"sum(CASE WHEN {above}{finite} THEN {x} END){behind}")
    found = " + ".join(f"coalesce({part}, 0)" for part in parts)
    found = f"CASE WHEN {rows} > 0 THEN {found if name == 'sum' else f'({found}) / {rows}'} END"
    return f"nanvl(coalesce(max({left_out}){behind} + min({left_out}){behind}, {found}), CAST('NaN' AS DOUBLE))"


def _variance(name: str, x: str, behind: str) -> str:
    """Returns the text of a variance or a standard deviation of numbers."""
    finite = f"abs({x}) < {_INFINITY}"
    rows = f"count(CASE WHEN {finite} THEN 1 END){behind}"
    largest = f"max(CASE WHEN {finite} THEN abs({x}) END){behind}"
    fewest = 1 if name in _OF_TWO_ROWS else 0
    is_root = name.startswith("stddev")
    classes = ""
    for limit, unit in _SQUARED:
        factor = _factor(x, f"abs({x}) < {_power(limit)}", unit)
        squares, sums = f"sum({factor} * {factor}){behind}", f"sum({factor}){behind}"
        difference = f"arrow_cast({rows}, 'Decimal256(76, 0)') * {squares} - {sums} * {sums}"
        found = f"arrow_cast({difference}, 'Float64') * {_power(2 * unit)} / {rows} / ({rows} - {fewest})"
        classes += f" WHEN {largest} < {_power(limit)} THEN {f'sqrt({found})' if is_root else found}"
    own = f"{name}(CASE WHEN {finite} THEN {x} END){behind}"
    return (
        f"(CASE WHEN count({x}){behind} <= {fewest} THEN NULL WHEN count({x}){behind} > {rows} "
        f"THEN CAST('NaN' AS DOUBLE){classes} ELSE {own} END)"
    )


def _factor(x: str, condition: str, unit: int) -> str:
    """Returns a double as a multiple of its unit, if a condition is true."""
    multiple = f"CASE WHEN {condition} THEN {x} / {_power(unit)} END"
    return f"arrow_cast({multiple}, 'Decimal256(76, 0)')"


def _moves(writer: Writer, node: n.Call) -> bool:
    """Returns whether rows may leave the frame. For a named window any frame in the text counts."""
    if node.over_name:
        return any(token.word in _FRAMES for token in tokenize(writer.source))
    words = [token.word for token in tokenize(writer.source[node.arguments_end : node.end])]
    at = next((i for i in range(len(words) - 1, -1, -1) if words[i] in _FRAMES), None)
    if at is None:
        return False
    start = words[at + 2 :] if words[at + 1] == "BETWEEN" else words[at + 1 :]
    return start[:2] != ["UNBOUNDED", "PRECEDING"]
