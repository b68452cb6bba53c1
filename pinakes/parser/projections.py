"""Names the unnamed items of the outermost SELECT list by their text.

DataFusion would name `sum(x)` by the plan's text, and refuses two expressions of one name. Items are recognised by
their tokens alone; an item that might have an alias is unchanged.
"""

from __future__ import annotations

import re
import secrets
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise

from pinakes.core.errors import AmbiguousName
from pinakes.core.names import quote
from pinakes.parser.lexer import Token
from pinakes.parser.statements import Projection, Repair, Span

_OPEN, _CLOSE = frozenset("([{"), frozenset(")]}")
_LIST_ENDS = frozenset(
    {"FROM", "WHERE", "GROUP", "HAVING", "QUALIFY", "WINDOW", "ORDER", "LIMIT", "OFFSET", "FETCH", "INTO"}
    | {"UNION", "EXCEPT", "INTERSECT"}
)
_NO_ALIASES = frozenset({"NULL", "TRUE", "FALSE", "END"})
_NO_COLUMNS = _NO_ALIASES | {"AS"}
_LONGEST = 200
_MARK = f"\x1f{secrets.token_hex(8)}:"
"""Separates a name from a number in `distinct_names`. It is drawn for each process, so that no column has it."""
_AFTER_LIST = frozenset({"GROUP", "HAVING", "QUALIFY", "ORDER"})


def projections(text: str, tokens: Sequence[Token]) -> tuple[Projection, ...]:
    """Returns the unnamed items of the first SELECT outside of all brackets."""
    seen: set[str] = set()
    numbers: dict[str, int] = {}
    found: list[Projection] = []
    for listed in _items(tokens):
        item = _without_on(listed) if listed[0].word == "ON" else listed
        is_column = _is_column(item)
        name = _folded(item[-1])
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


def distinct_names(tokens: Sequence[Token], name: str) -> tuple[list[Projection], list[Repair]]:
    """Returns other names for items of the list, since DataFusion refuses a result with two columns of one name: for
    unnamed columns, and in place of aliases. `names_as_written` undoes it. There are none if no two items have this
    name.
    """
    items, has_star, columns = list[tuple[Token, str, bool]](), False, set[str]()
    for listed in _items(tokens):
        item = _without_on(listed) if listed[0].word == "ON" else listed
        is_column, called = _is_column(item), _folded(item[-1])
        has_star = has_star or (not is_column and _has_star(item))
        if is_column and called in columns:  # it has another name by `projections`
            continue
        if is_column:
            columns.add(called)
        if is_column or (not _has_star(item) and _has_alias(item)):
            items.append((item[-1], called, is_column))
    counts = Counter(called for _, called, _ in items)
    if counts[name] < 2 - has_star:
        return [], []
    repeated = {name, *(called for called, count in counts.items() if count > 1)}
    used = {called for _, called, is_column in items if called in repeated and not is_column} & _used_later(tokens)
    if used:
        raise AmbiguousName(f"column {min(used)} is ambiguous: several columns of the result have this name")
    unnamed, aliases = list[Projection](), list[Repair]()
    for at, (last, called, is_column) in enumerate(items):
        if is_column and (called in repeated or has_star):
            unnamed.append(Projection(last.end, f"{called}{_MARK}{at}"))
        elif called in repeated:
            aliases.append(Repair(Span(last.start, last.end), quote(f"{called}{_MARK}{at}")))
    return unnamed, aliases


def names_as_written(names: Sequence[str]) -> list[str]:
    """Returns the names of columns without what `distinct_names` added."""
    return [name.partition(_MARK)[0] for name in names]


def _folded(token: Token) -> str:
    return token.text if token.kind == "quoted" else token.text.lower()


def _used_later(tokens: Sequence[Token]) -> set[str]:
    """Returns the names in GROUP BY, ORDER BY and other clauses that know the names of the result."""
    found, depth, is_later = set[str](), 0, False
    for before, token in pairwise(tokens):
        depth += (token.word in _OPEN) - (token.word in _CLOSE)
        is_later = is_later or (depth == 0 and token.word in _AFTER_LIST)
        if is_later and token.kind in ("word", "quoted") and before.word != ".":
            found.add(_folded(token))
    return found


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
        is_end = word in _LIST_ENDS and not (word == "GROUP" and item and item[-1].word == "WITHIN")
        if depth == 0 and (word == "," or is_end or word in _CLOSE):
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
