""" "Did you mean" suggestions: the closest existing names, for the end of an error message."""

from __future__ import annotations

from collections.abc import Iterable

_LONGEST = 200
"""Maximum length of a name: comparing two names takes the product of their lengths."""


def close_to(given: str, known: Iterable[str], *, most: int = 1, cutoff: float = 0.6) -> list[str]:
    """Returns the names that are similar to `given`, ignoring case; the closest first."""
    from difflib import get_close_matches  # only on errors

    if len(given) > _LONGEST:
        return []
    by_folded = {name.casefold(): name for name in known if len(name) <= _LONGEST}
    return [by_folded[name] for name in get_close_matches(given.casefold(), by_folded, n=most, cutoff=cutoff)]


def did_you_mean(given: str, known: Iterable[str]) -> str:
    """Returns ` Did you mean x?`, or an empty text when no name is close."""
    close = close_to(given, known)
    return f" Did you mean {close[0]}?" if close else ""


def closest_by_edits(given: str, known: Iterable[str]) -> str | None:
    """Returns the name with the fewest edits, of which swapping two neighbours is one; None if more than a third of
    the characters, or four, are edited. Of several it is the one with the same first characters.
    """
    given = given.casefold()
    if len(given) > _LONGEST:
        return None
    most = min(max(1, len(given) // 3), 4)
    found = list[tuple[int, int, str]]()
    for name in known:
        if abs(len(name) - len(given)) <= most and (edits := _edits(given, name.casefold())) <= most:
            found.append((edits, -_same_start(given, name.casefold()), name))
    return min(found)[2] if found else None


def _same_start(one: str, other: str) -> int:
    return next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def _edits(one: str, other: str) -> int:
    """Returns how many characters are inserted, deleted, replaced or swapped with their neighbour."""
    before, row = list[int](), list(range(len(other) + 1))
    for i, a in enumerate(one):
        last, row, older = row, [i + 1], before
        for j, b in enumerate(other):
            cost = min(last[j] + (a != b), last[j + 1] + 1, row[j] + 1)
            if i and j and a == other[j - 1] and one[i - 1] == b:
                cost = min(cost, older[j - 1] + 1)
            row.append(cost)
        before = last
    return row[-1]
