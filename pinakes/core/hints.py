"""What somebody may have meant: the closest of the names there are, as the end of an error message."""

from __future__ import annotations

from collections.abc import Iterable


def meant(asked: str, known: Iterable[str]) -> str:
    """` Did you mean x?`, or nothing when no name is close."""
    from difflib import get_close_matches  # only when something went wrong

    by_folded = {name.casefold(): name for name in known}
    close = get_close_matches(asked.casefold(), by_folded, n=1)
    return f" Did you mean {by_folded[close[0]]}?" if close else ""
