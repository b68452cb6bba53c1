"""The list of differences that are meant, `differences.toml`, and what of it covers a case."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Literal

from tests.semantics.engines import Outcome

LIST = Path(__file__).with_name("differences.toml")


@dataclass(frozen=True)
class Difference:
    """One decision. Its example is run in both engines, and must still give what is written here."""

    title: str
    reason: str
    example: str
    pinakes: str
    postgresql: str
    cases: str
    """Matches the labels of the cases that it covers."""
    ours: str = ""
    """Matches what Pinakes gave; anything if empty."""
    theirs: str = ""
    values: Literal["any", "moment", "rounded", "close"] = "any"
    """How far the two values may differ: not at all as moments, by their last digit, or by the last digits of a
    DOUBLE. An error of PostgreSQL is covered if `theirs` matches it."""

    def covers(self, label: str, ours: Outcome, theirs: Outcome) -> bool:
        found = (re.search(self.cases, label), re.search(self.ours, str(ours)), re.search(self.theirs, str(theirs)))
        return all(match is not None for match in found) and (theirs.failed or self._is_near(ours, theirs))

    def _is_near(self, ours: Outcome, theirs: Outcome) -> bool:
        if self.values == "any":
            return True
        if ours.value is None or theirs.value is None:
            return ours.value is theirs.value
        if self.values == "moment":
            return bool(ours.value * (_DAY if ours.family == "date" else 1) == theirs.value)
        if ours.family == theirs.family == "interval":  # months, and microseconds
            return bool(ours.value[0] == theirs.value[0]) and _is_close(*(Decimal(o.value[1]) for o in (ours, theirs)))
        one, other = Decimal(ours.value), Decimal(theirs.value)
        if self.values == "rounded":
            return abs(one - other) <= Decimal(1).scaleb(max(int(n.as_tuple().exponent) for n in (one, other)))
        return _is_close(one, other)


def _is_close(one: Decimal, other: Decimal) -> bool:
    return one == other or abs(one - other) <= abs(other) * Decimal("1e-9") + Decimal("1e-15")


_DAY = 86_400_000_000


@cache
def differences() -> tuple[Difference, ...]:
    return tuple(Difference(**entry) for entry in tomllib.loads(LIST.read_text(encoding="utf-8"))["difference"])
