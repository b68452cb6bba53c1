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
