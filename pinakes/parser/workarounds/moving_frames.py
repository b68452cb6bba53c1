"""Aggregates of doubles over frames whose start moves: DataFusion 55 subtracts the rows that leave the frame.

    sum(x) OVER (ORDER BY k ROWS 1 PRECEDING)      is NaN for all rows after a NaN or infinity

Such values are excluded from the running value and counted separately. A sum or an average is computed from the counts;
another statistic is NaN, as in PostgreSQL.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pinakes.parser.lexer import tokenize
from pinakes.parser.typed import nodes as n
from pinakes.parser.typed.values import DOUBLE, Value, is_float
from pinakes.parser.workarounds.writing import is_repeatable

if TYPE_CHECKING:
    from pinakes.parser.typed.writer import Writer

Values = Sequence[tuple[n.Node, Value]]

_SUMS = frozenset({"sum", "avg", "mean"})
_OF_TWO_ROWS = frozenset("stddev stddev_samp var var_samp var_sample variance covar covar_samp".split())
"""Statistics that are NULL for a single row."""
_STATISTICS = _OF_TWO_ROWS | frozenset("stddev_pop var_pop var_population covar_pop corr".split())
_REFUSED = frozenset("regr_slope regr_intercept regr_r2 regr_avgx regr_avgy regr_sxx regr_syy regr_sxy".split())
_FRAMES = frozenset({"ROWS", "RANGE", "GROUPS"})


def moving(writer: Writer, node: n.Call, arguments: Values, others: Values) -> Value | None:
    """Rewrites a call; None if it needs no change."""
    if not node.over or node.distinct or not 0 < len(arguments) <= 2:
        return None
    if node.name not in _SUMS | _STATISTICS | _REFUSED:
        return None
    doubles = [writer.text(a, v) for a, v in arguments if is_float(v.type)]
    if not doubles or not all(is_repeatable(a) for a, _ in arguments) or not _moves(writer, node):
        return None
    if node.name in _REFUSED:
        raise writer.refuse(
            f"{node.name} of doubles over a frame whose start moves is not supported: one NaN would spoil all rows "
            "behind it. Start the frame with UNBOUNDED PRECEDING, or cast the arguments to DECIMAL"
        )
    behind, at = "", node.arguments_end
    for other, value in others:  # FILTER and OVER
        behind += writer.source[at : other.start] + writer.text(other, value)
        at = other.end
    behind += writer.source[at : node.end]
    finite = " AND ".join(f"abs({x}) < CAST('Infinity' AS DOUBLE)" for x in doubles)
    texts = [writer.text(a, v) for a, v in arguments]
    kept = ", ".join([f"CASE WHEN {finite} THEN {texts[0]} END", *texts[1:]])
    of_finite = f"{node.name}({kept}){behind}"
    if node.name in _SUMS:
        left_out = f"CASE WHEN NOT ({finite}) THEN {texts[0]} END"
        found = f"coalesce(max({left_out}){behind} + min({left_out}){behind}, {of_finite})"
        return Value(f"nanvl({found}, CAST('NaN' AS DOUBLE))", DOUBLE)
    rows = " AND ".join(f"{text} IS NOT NULL" for text in texts)
    fewest = 1 if node.name in _OF_TWO_ROWS else 0
    spoilt = f"count(CASE WHEN NOT ({finite}) AND {rows} THEN 1 END){behind} > 0"
    enough = f"count(CASE WHEN {rows} THEN 1 END){behind} > {fewest}"
    if node.name == "corr":  # a column with one value has no correlation
        enough = " AND ".join(f"min({text}){behind} <> max({text}){behind}" for text in texts)
    return Value(f"(CASE WHEN {spoilt} AND {enough} THEN CAST('NaN' AS DOUBLE) ELSE {of_finite} END)", DOUBLE)


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
