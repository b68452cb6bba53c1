"""regr_r2(y, x): DataFusion 55 returns NULL where all y are equal. The standard and PostgreSQL return 1."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pinakes.parser.typed import nodes as n
from pinakes.parser.typed.values import DOUBLE, Value

if TYPE_CHECKING:
    from pinakes.parser.typed.writer import Writer

Values = Sequence[tuple[n.Node, Value]]


def regr_r2(writer: Writer, node: n.Call, arguments: Values, others: Values) -> Value | None:
    if len(arguments) != 2:
        return None
    y, x = (writer.text(*argument) for argument in arguments)
    behind, at = "", node.arguments_end
    for other in others:  # FILTER and OVER
        behind += writer.source[at : other[0].start] + writer.text(*other)
        at = other[0].end
    behind += writer.source[at : node.end]
    fits = f"regr_syy({y}, {x}){behind} = 0 AND regr_sxx({y}, {x}){behind} > 0"
    return Value(f"coalesce(regr_r2({y}, {x}){behind}, CASE WHEN {fits} THEN CAST(1 AS DOUBLE) END)", DOUBLE)
