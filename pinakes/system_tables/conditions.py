"""Predicates on the names of catalogs, schemas and tables.

A predicate is evaluated with the names that are known so far, and is false only if no row with these names can match:
so a catalog is pruned before it is called, and a schema before its tables are listed. DataFusion applies every
predicate to the rows in the end, so at worst some names are listed unnecessarily. `combined.py` joins predicates.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import takewhile
from typing import Literal, Protocol

from pinakes.parser.patterns import MANY, ONE, matches

Level = Literal["catalog", "schema", "table", "kind"]
"""`kind` is the value of `table_type`: each kind is listed by a separate call."""
Known = Mapping[Level, str]
Fold = Literal["", "lower", "upper"]

FOLDS: dict[Fold, Callable[[str], str]] = {"": str, "lower": str.lower, "upper": str.upper}


class Condition(Protocol):
    def may(self, known: Known) -> bool:
        """Whether a row with these names may match; names that are not known yet may have any value."""
        ...

    def concerns(self, level: Level) -> bool:
        """Whether it depends on the names of this level."""
        ...

    def values(self, level: Level) -> frozenset[str] | None:
        """Returns the only names of a level that can match; None if they are not a list."""
        ...

    def reaches(self, level: Level, beginning: str) -> bool:
        """Whether a name of a level with this prefix may match, as those of nested schemas."""
        ...


@dataclass(frozen=True, slots=True)
class Anything:
    """No constraint on the names."""

    def may(self, known: Known) -> bool:
        return True

    def concerns(self, level: Level) -> bool:
        return False

    def values(self, level: Level) -> frozenset[str] | None:
        return None

    def reaches(self, level: Level, beginning: str) -> bool:
        return True


ANYTHING = Anything()


@dataclass(frozen=True, slots=True)
class OneOf:
    """The name, optionally folded to lower or upper case, is one of these."""

    level: Level
    names: frozenset[str]
    fold: Fold = ""

    def may(self, known: Known) -> bool:
        name = known.get(self.level)
        return name is None or is_odd(name, self.fold) or FOLDS[self.fold](name) in self.names

    def concerns(self, level: Level) -> bool:
        return level == self.level

    def values(self, level: Level) -> frozenset[str] | None:
        return self.names if level == self.level and not self.fold else None

    def reaches(self, level: Level, beginning: str) -> bool:
        if level != self.level or is_odd(beginning, self.fold):
            return True
        return any(name.startswith(FOLDS[self.fold](beginning)) for name in self.names)


@dataclass(frozen=True)
class Like:
    """The name, optionally folded, matches a LIKE or ILIKE pattern: % and _, with a backslash as the escape
    character.
    """

    level: Level
    pattern: str
    caseless: bool = False
    fold: Fold = ""

    def may(self, known: Known) -> bool:
        name = known.get(self.level)
        if name is None or is_odd(name, self.caseless or self.fold):
            return True
        return matches(self._pieces, name.lower() if self.caseless else FOLDS[self.fold](name))

    def concerns(self, level: Level) -> bool:
        return level == self.level

    def values(self, level: Level) -> frozenset[str] | None:
        """Returns the pattern as a name if it has no wildcard."""
        plain = not self.caseless and not self.fold and not set(self.pattern) & set("%_\\")
        return frozenset({self.pattern}) if plain and level == self.level else None

    def reaches(self, level: Level, beginning: str) -> bool:
        if level != self.level or is_odd(beginning, self.caseless or self.fold):
            return True
        folded = beginning.lower() if self.caseless else FOLDS[self.fold](beginning)
        return all(piece in (ONE, char) for piece, char in zip(self._fixed, folded, strict=False)) and (
            len(self._fixed) < len(self._pieces) or len(folded) <= len(self._fixed)
        )

    @cached_property
    def _fixed(self) -> tuple[str, ...]:
        """The part before the first %."""
        return tuple(takewhile(lambda piece: piece != MANY, self._pieces))

    @cached_property
    def _pieces(self) -> tuple[str, ...]:
        text = self.pattern.lower() if self.caseless else self.pattern
        return tuple(_WILD.get(p, p[-1]) for p in re.findall(r"\\.|.", text, re.DOTALL))


_WILD = {"%": MANY, "_": ONE}


@dataclass(frozen=True, slots=True)
class Not:
    """The name is none of these, or does not match the pattern: prunes catalogs that are excluded explicitly."""

    excluded: OneOf | Like

    def may(self, known: Known) -> bool:
        name, fold = known.get(self.excluded.level), self.excluded.fold
        caseless = isinstance(self.excluded, Like) and self.excluded.caseless
        return name is None or is_odd(name, caseless or fold) or not self.excluded.may(known)

    def concerns(self, level: Level) -> bool:
        return self.excluded.concerns(level)

    def values(self, level: Level) -> frozenset[str] | None:
        return None

    def reaches(self, level: Level, beginning: str) -> bool:
        return True


def is_odd(name: str, fold: object) -> bool:
    """Whether the comparison is left to DataFusion, which has its own case folding beyond ASCII."""
    return bool(fold) and not name.isascii()
