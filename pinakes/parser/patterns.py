"""LIKE on names: SQL's % and _, Spark's * and |, case ignored, \\ escapes.

Not a regular expression, since a pattern of many % would take very long to fail on a long name.
"""

from __future__ import annotations

from functools import lru_cache

MANY, ONE = "any characters", "one character"  # longer than any literal, which is a single character


def like(pattern: str, name: str) -> bool:
    """Returns whether `name` matches; alternatives are separated by |."""
    folded = name.lower()
    return any(matches(pieces, folded) for pieces in _alternatives(pattern))


@lru_cache(maxsize=256)
def _alternatives(pattern: str) -> tuple[tuple[str, ...], ...]:
    found: list[list[str]] = [[]]
    escaped = False
    for char in pattern:
        if escaped or char not in "\\|%*_":
            found[-1] += char.lower()
            escaped = False
        elif char == "\\":
            escaped = True
        elif char == "|":
            found.append([])
        else:
            found[-1].append(ONE if char == "_" else MANY)
    if escaped:  # a trailing backslash is literal
        found[-1].append("\\")
    return tuple(map(tuple, found))


def matches(pieces: tuple[str, ...], name: str) -> bool:
    """Matches forward; on a mismatch the last % consumes one character more."""
    at = piece = 0
    many, resume = -1, 0
    while at < len(name):
        if piece < len(pieces) and pieces[piece] == MANY:
            many, resume, piece = piece, at, piece + 1
        elif piece < len(pieces) and pieces[piece] in (ONE, name[at]):
            at, piece = at + 1, piece + 1
        elif many >= 0:
            resume += 1
            at, piece = resume, many + 1
        else:
            return False
    return all(p == MANY for p in pieces[piece:])
