"""Counts the relations that a text reads. A common table expression is planned wherever it is read, so that one that
reads another twice, which reads a third twice, doubles the plan with each.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

from pinakes.parser.typed import nodes as n
from pinakes.parser.typed.reader import Unread, read
from pinakes.parser.workarounds.writing import parts_of

_SOURCE = re.compile(r"\b(?:FROM|JOIN)\b", re.IGNORECASE)
_WITH = re.compile(r"\bWITH\b", re.IGNORECASE)
_MOST_DOUBLED = 60
_FEW = 100


def references_of(text: str) -> int:
    """Returns the number of relations in the plan of a statement. Its text is only parsed if there may be many."""
    most = references_at_most(text)
    if most <= _FEW:
        return most
    try:
        return references(read(text))
    except (Unread, RecursionError):
        return most


def references(query: n.Query, known: Mapping[str, int] = MappingProxyType({})) -> int:
    """Returns the number of relations in the plan of a query; `known` are those of the expressions around it."""
    known = dict(known)
    for defined in query.defined:
        known[defined.name] = references(defined.query, known)
    found, waiting = 0, [query.body, *query.order, *query.tail]
    while waiting:
        node = waiting.pop()
        if isinstance(node, n.Query):
            found += references(node, known)
            continue
        if isinstance(node, n.Table | n.TableOf):
            found += known.get(node.parts[0], 1) if len(node.parts) == 1 else 1
        elif isinstance(node, n.TableCall):
            found += 1
        waiting += parts_of(node)
    return max(found, 1)


def references_at_most(text: str) -> int:
    """Returns the same for a text that can't be parsed: as many as there can be."""
    sources = len(_SOURCE.findall(text))
    return 1 << min(sources // 2, _MOST_DOUBLED) if _WITH.search(text) else sources
