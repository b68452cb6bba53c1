"""Scores how well a name or a comment matches the words of a search. Words are plain text, without wildcards and
case-insensitive.

An exact name scores highest, then a prefix, a separate word (`order` in `line_order` and `lineOrder`), a substring, and
last a comment. Each of several words must be found: in the name, in the comment, or in the names of its parents, which
alone do not suffice.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from pinakes.core.errors import InvalidArgument

EXACT, PREFIX, WORD, SUBSTRING, COMMENT, AROUND = 100, 80, 60, 40, 20, 10

_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_PIECE = re.compile(r"[^\W_]+")


class Fit(NamedTuple):
    score: int
    text: str
    """The name or the comment that matches."""


@dataclass(frozen=True)
class Sought:
    """The search text as written."""

    written: str

    @cached_property
    def words(self) -> tuple[str, ...]:
        return tuple(self.written.casefold().split())

    @cached_property
    def whole(self) -> str:
        return " ".join(self.words)

    def check(self) -> None:
        if not self.words:
            raise InvalidArgument("there is nothing to look for; say a word or several, as in SEARCH 'customer email'")

    def fit(self, name: str, comment: str | None, around: str) -> Fit | None:
        """Returns the match, or None. `around` are the names of its parents, case-folded."""
        folded = name.casefold()
        said = comment.casefold() if comment else ""
        if not all(word in folded or word in said or word in around for word in self.words):
            return None
        whole = _of_name(self.whole, name, folded)
        if whole or len(self.words) == 1:
            return Fit(whole, name) if whole else Fit(COMMENT, comment) if comment and self.whole in said else None
        scores = [_of_name(w, name, folded) or (COMMENT if w in said else AROUND) for w in self.words]
        if max(scores) == AROUND:
            return None
        text = name if max(scores) > COMMENT or comment is None else comment
        return Fit(sum(scores) // len(scores), text)


def _of_name(sought: str, name: str, folded: str) -> int:
    """Returns the score of a name, 0 without a match. `order items` is an exact match of `order_items` and
    `orderItems`.
    """
    if not all(word in folded for word in sought.split()):
        return 0
    spoken = " ".join(_PIECE.findall(_HUMP.sub("_", name))).casefold()
    if sought in (folded, spoken):
        return EXACT
    if folded.startswith(sought) or spoken.startswith(sought):
        return PREFIX
    if f" {sought} " in f" {spoken} ":
        return WORD
    return SUBSTRING if sought in folded or sought in spoken else 0
