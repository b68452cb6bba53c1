"""Finds the place in the user's text of a place in its translation.

It is known in the tokens at the start and the end that both texts share, and of a token that each has once. Elsewhere
no place is given, rather than a wrong one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from pinakes.parser.lexer import Token, tokenize_what_fits


def place_of(offset: int, text: str, tokens: Sequence[Token]) -> int | None:
    """Returns the offset in the text that `tokens` are of, for an offset in its translation."""
    ours = tokenize_what_fits(text)[0]
    index = next((i for i, token in enumerate(ours) if token.start <= offset < token.end), None)
    if index is None:
        return tokens[-1].end if tokens and ours and offset >= ours[-1].end else None
    key, within = _key(ours[index]), offset - ours[index].start
    one, other = [_key(t) for t in ours], [_key(t) for t in tokens]
    if one[: index + 1] == other[: index + 1]:
        return tokens[index].start + within
    back = len(one) - index
    if one[-back:] == other[-back:]:
        return tokens[-back].start + within
    if Counter(one)[key] == 1 and Counter(other)[key] == 1:
        return tokens[other.index(key)].start + within
    return None


def _key(token: Token) -> tuple[str, str]:
    return token.kind, token.word or token.text
