"""Names the unnamed items of the outermost SELECT list by their text.

DataFusion would name `sum(x)` by the plan's text, and refuses two expressions of one name. Items are recognised by
their tokens alone; an item that might have an alias is unchanged.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from pinakes.parser.lexer import Token
from pinakes.parser.statements import Projection

_OPEN, _CLOSE = frozenset("([{"), frozenset(")]}")
_LIST_ENDS = frozenset(
    {"FROM", "WHERE", "GROUP", "HAVING", "QUALIFY", "WINDOW", "ORDER", "LIMIT", "OFFSET", "FETCH", "INTO"}
    | {"UNION", "EXCEPT", "INTERSECT"}
)
_NO_ALIASES = frozenset({"NULL", "TRUE", "FALSE", "END"})
_NO_COLUMNS = _NO_ALIASES | {"AS"}
_LONGEST = 200


def projections(text: str, tokens: Sequence[Token]) -> tuple[Projection, ...]:
    """Returns the unnamed items of the first SELECT outside of all brackets."""
    seen: set[str] = set()
    numbers: dict[str, int] = {}
    found: list[Projection] = []
    for listed in _items(tokens):
        item = _without_on(listed) if listed[0].word == "ON" else listed
        is_column = _is_column(item)
        name = item[-1].text if item[-1].kind == "quoted" else item[-1].text.lower()
        if not is_column:
            if _has_star(item) or _has_alias(item) or (item[-1].kind == "symbol" and item[-1].word not in _CLOSE):
                continue
            name = re.sub(r"\s+", " ", text[item[0].start : item[-1].end])[:_LONGEST]
        unique, number = name, numbers.get(name, 0)
        while unique in seen:
            number += 1
            unique = f"{name}_{number}"
        numbers[name] = number
        seen.add(unique)
        if unique != name or not is_column:
            found.append(Projection(item[-1].end, unique))
    return tuple(found)


def named_items(text: str, tokens: Sequence[Token]) -> list[str | None]:
    """Returns the name of each item of the first SELECT outside of all brackets; None of one that keeps its own."""
    names = {item.end: item.name for item in projections(text, tokens)}
    return [names.get(item[-1].end) for item in _items(tokens)]


def _items(tokens: Sequence[Token]) -> Iterator[list[Token]]:
    """Yields the items of the list, as tokens."""
    depth, item, within = 0, list[Token](), False
    for token in tokens:
        word = token.word
        if not within:
            depth += (word in _OPEN) - (word in _CLOSE)
            within = depth == 0 and word == "SELECT"
            continue
        if depth == 0 and not item and word in ("DISTINCT", "ALL"):
            continue
        if depth == 0 and (word == "," or word in _LIST_ENDS or word in _CLOSE):
            if item:
                yield item
            item = []
            if word != ",":
                return
            continue
        depth += (word in _OPEN) - (word in _CLOSE)
        item.append(token)
    if item:
        yield item


def _without_on(item: list[Token]) -> list[Token]:
    """Returns the first item without DISTINCT ON (…)."""
    if len(item) < 2 or item[1].word != "(":
        return item
    depth = 0
    for at, token in enumerate(item):
        depth += (token.word in _OPEN) - (token.word in _CLOSE)
        if at and depth == 0:
            return item[at + 1 :] or item
    return item


def _has_star(item: Sequence[Token]) -> bool:
    """Returns whether an item stands for several columns: *, t.*, COLUMNS(…)."""
    if any(t.word == "COLUMNS" and i + 1 < len(item) and item[i + 1].word == "(" for i, t in enumerate(item)):
        return True
    return any(t.word == "*" and (i == 0 or item[i - 1].word == ".") for i, t in enumerate(item))


def _has_alias(item: Sequence[Token]) -> bool:
    depth = 0
    for token in item:
        depth += (token.word in _OPEN) - (token.word in _CLOSE)
        if depth == 0 and token.word == "AS":
            return True
    if len(item) < 2 or item[-1].kind not in ("word", "quoted", "string") or item[-1].word in _NO_ALIASES:
        return False
    before = item[-2]
    if before.kind == "word":  # DATE '2020-01-01' ends in a string, and no alias does after a word
        return item[-1].kind != "string"
    return before.kind in ("quoted", "string", "number", "parameter") or before.word in _CLOSE


def _is_column(item: Sequence[Token]) -> bool:
    """`a`, `t.a`, `"T"."a"`"""
    if len(item) == 1:
        return item[0].kind in ("word", "quoted") and item[0].word not in _NO_COLUMNS
    return len(item) % 2 == 1 and all(
        t.kind in ("word", "quoted") and t.word != "AS" if i % 2 == 0 else t.word == "." for i, t in enumerate(item)
    )
