"""LIKE on names: SQL's % and _, Spark's * and |, case ignored, \\ escapes."""

from __future__ import annotations

import re
from functools import lru_cache


def like(pattern: str, name: str) -> bool:
    """Whether `name` matches; alternatives are separated by |."""
    return _compiled(pattern).fullmatch(name) is not None


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> re.Pattern[str]:
    pieces: list[str] = []
    escaped = False
    for char in pattern:
        if escaped:
            pieces.append(re.escape(char))
            escaped = False
        elif char == "\\":
            escaped = True
        else:
            pieces.append(_piece(char, pieces))
    if escaped:  # a backslash at the very end stands for itself
        pieces.append(re.escape("\\"))
    return re.compile("".join(pieces), re.IGNORECASE | re.DOTALL)


def _piece(char: str, before: list[str]) -> str:
    if char in "%*":
        return "" if before and before[-1] == ".*" else ".*"  # .*.*.* would take ages to fail
    return {"_": ".", "|": "|"}.get(char, re.escape(char))
