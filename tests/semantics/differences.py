"""The list of differences that are meant, `differences.toml`, and what of it covers a case."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

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

    def covers(self, label: str, ours: str, theirs: str) -> bool:
        found = (re.search(self.cases, label), re.search(self.ours, ours), re.search(self.theirs, theirs))
        return all(match is not None for match in found)


@cache
def differences() -> tuple[Difference, ...]:
    return tuple(Difference(**entry) for entry in tomllib.loads(LIST.read_text(encoding="utf-8"))["difference"])
