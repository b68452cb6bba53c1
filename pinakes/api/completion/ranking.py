"""Selects the candidates that match the typed text, and sorts them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

Kind = Literal[
    "keyword", "function", "catalog", "namespace", "table", "view", "temporary", "column", "alias", "setting", "file"
]

MOST = 500
"""Maximum number of completions."""

_SHORTEST_LOOSE = 2
"""Minimum number of typed characters for a non-contiguous match."""


class Completion(NamedTuple):
    """`text` replaces the text from `start` to the cursor."""

    text: str
    start: int
    kind: str


class Names(NamedTuple):
    """Names of one kind, each with its case-folded form: folding 10,000 names takes longer than comparing them."""

    kind: Kind
    pairs: Sequence[tuple[str, str]]

    @classmethod
    def of(cls, kind: Kind, names: Iterable[str]) -> Names:
        return cls(kind, [(name, name.casefold()) for name in sorted(names)])


class Match(NamedTuple):
    """Sorts by closeness, then by the position of the group, then by name."""

    closeness: int
    group: int
    name: str
    kind: Kind


def ranked(prefix: str, groups: Sequence[Names]) -> list[Match]:
    """Returns the matching names: first those that begin with the prefix, then those with a word that does, then those
    that contain it."""
    folded = prefix.casefold()
    found = [
        Match(closeness, number, name, group.kind)
        for number, group in enumerate(groups)
        for closeness, names in enumerate(_fitting(folded, group))
        for name in names[:MOST]
    ]
    return list({(match.name, match.kind): match for match in reversed(sorted(found)[:MOST])}.values())[::-1]


def _fitting(folded: str, group: Names) -> list[list[str]]:
    """Returns the matching names by closeness. Lists of strings, since 10,000 tuples would trigger the garbage
    collector."""
    pairs = group.pairs
    if not folded:
        return [[name for name, _ in pairs[:MOST]]]
    begin = [name for name, low in pairs if low.startswith(folded)]
    if group.kind in ("keyword", "setting") or len(begin) >= MOST:
        return [begin]
    inner = f"_{folded}"
    words = [name for name, low in pairs if inner in low and not low.startswith(folded)]
    within = [name for name, low in pairs if folded in low and inner not in low and not low.startswith(folded)]
    found = [begin, words, within]
    return found if any(found) else [[], [], [], _loosely(folded, group)]


def _loosely(folded: str, group: Names) -> list[str]:
    """Returns names that contain the characters in this order: `odr42` finds `orders_00042` if no name contains them
    contiguously."""
    if len(folded) < _SHORTEST_LOOSE or group.kind == "function":
        return []
    has = re.compile(".*?".join(map(re.escape, folded)), re.DOTALL).search
    return [name for name, low in group.pairs if has(low)]
