"""DataFusion 55 gives array_agg(DISTINCT a ORDER BY a) the order of another aggregate of the same SELECT, if that is
ordered by the reverse: string_agg(a, ',' ORDER BY a DESC). Such a SELECT is refused.

Delete when tests/workarounds/test_ordered_distincts.py reports that it is fixed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from pinakes.core.errors import NotSupportedError
from pinakes.parser.lexer import tokenize
from pinakes.parser.typed import nodes as n
from pinakes.parser.workarounds.writing import Changes, parts_of

_COLLECTING = "array_agg|string_agg|list|listagg|group_concat"
DISTINCT = re.compile(rf"\b(?:{_COLLECTING})\s*\(\s*DISTINCT\b", re.IGNORECASE)
_NAMES = frozenset(_COLLECTING.split("|"))


def refuse_reversed(select: n.Select, changes: Changes) -> None:
    if DISTINCT.search(changes.text, select.start, select.end) is None:
        return
    calls = [(call, _order(call, changes.text)) for call in _aggregates(select)]
    orders: dict[str, set[tuple[str, ...]]] = {}
    for _, order in calls:
        if order:
            orders.setdefault(order[0], set()).add(order)
    for call, order in calls:
        if call.distinct and order and len(orders[order[0]]) > 1:
            raise NotSupportedError(
                f"{call.name} with DISTINCT and ORDER BY next to an aggregate that orders the same values otherwise is "
                "not supported: compute one of them in a query of its own"
            )


def _aggregates(node: n.Node) -> Iterator[n.Call]:
    """Yields the aggregates of this SELECT, not those of its subqueries."""
    for part in parts_of(node):
        if isinstance(part, n.Query):
            continue
        if isinstance(part, n.Call) and part.name in _NAMES and part.others and not part.over:
            yield part
        yield from _aggregates(part)


def _order(call: n.Call, text: str) -> tuple[str, ...]:
    """Returns the words of ORDER BY in the arguments; those of the first key are the first element."""
    key = call.others[0]
    if key.start > call.arguments_end:
        return ()
    rest = [token.word or token.text for token in tokenize(text[key.end : call.arguments_end - 1])]
    return (" ".join(token.word or token.text for token in tokenize(text[key.start : key.end])), *rest)
