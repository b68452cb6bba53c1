"""What somebody may have meant: the closest of the names there are, as the end of an error message."""

from __future__ import annotations

from collections.abc import Iterable

_LONGEST = 200
"""Characters of a name: comparing two names takes the product of their lengths."""


def close_to(asked: str, known: Iterable[str], *, most: int = 1, cutoff: float = 0.6) -> list[str]:
    """The names that are like the one that was asked for, whatever their case; the closest first."""
    from difflib import get_close_matches  # only when something went wrong

    if len(asked) > _LONGEST:
        return []
    by_folded = {name.casefold(): name for name in known if len(name) <= _LONGEST}
    return [by_folded[name] for name in get_close_matches(asked.casefold(), by_folded, n=most, cutoff=cutoff)]


def meant(asked: str, known: Iterable[str]) -> str:
    """` Did you mean x?`, or nothing when no name is close."""
    close = close_to(asked, known)
    return f" Did you mean {close[0]}?" if close else ""
