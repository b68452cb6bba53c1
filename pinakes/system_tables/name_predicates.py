"""Predicates on the names of catalogs, schemas and tables.

A predicate is evaluated with the names that are known so far, and is false only if no row with these names can match:
so a catalog is pruned before it is called, and a schema before its tables are listed. DataFusion applies every
predicate to the rows in the end, so at worst some names are listed unnecessarily.

Predicates are joined by AND and OR. Lists of names, and of rows of names, are kept as sets: a query for a thousand
tables by name is as fast as one for ten.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import product, takewhile
from math import prod
from typing import Literal, Protocol

from pinakes.parser.patterns import MANY, ONE, matches

Level = Literal["catalog", "schema", "table", "kind"]
"""`kind` is the value of `table_type`: each kind is listed by a separate call."""
Known = Mapping[Level, str]
Fold = Literal["", "lower", "upper"]

FOLDS: dict[Fold, Callable[[str], str]] = {"": str, "lower": str.lower, "upper": str.upper}


class NamePredicate(Protocol):
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


# --- AND and OR --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class RowOf:
    """Several names together are one of these rows. There may be thousands, so each check is a set lookup."""

    subjects: tuple[tuple[Level, Fold], ...]
    rows: frozenset[tuple[str, ...]]

    def may(self, known: Known) -> bool:
        given = [i for i, (level, fold) in enumerate(self.subjects) if _is_given(known.get(level), fold)]
        row = tuple(FOLDS[self.subjects[i][1]](known[self.subjects[i][0]]) for i in given)
        return row in self._parts(tuple(given))

    def concerns(self, level: Level) -> bool:
        return any(level == about for about, _ in self.subjects)

    def values(self, level: Level) -> frozenset[str] | None:
        plain = [i for i, subject in enumerate(self.subjects) if subject == (level, "")]
        return frozenset(name for (name,) in self._parts(tuple(plain))) if plain else None

    def reaches(self, level: Level, beginning: str) -> bool:
        about = [(i, fold) for i, (of, fold) in enumerate(self.subjects) if of == level and _is_given(beginning, fold)]
        return all(any(name.startswith(FOLDS[fold](beginning)) for (name,) in self._parts((i,))) for i, fold in about)

    def _parts(self, which: tuple[int, ...]) -> frozenset[tuple[str, ...]]:
        """Returns the rows projected to these positions."""
        if which not in self._found:
            self._found[which] = frozenset(tuple(row[i] for i in which) for row in self.rows)
        return self._found[which]

    @cached_property
    def _found(self) -> dict[tuple[int, ...], frozenset[tuple[str, ...]]]:
        return {}


def _is_given(name: str | None, fold: Fold) -> bool:
    return name is not None and not is_odd(name, fold)


@dataclass(frozen=True, slots=True)
class All:
    parts: tuple[NamePredicate, ...]

    def may(self, known: Known) -> bool:
        return all(part.may(known) for part in self.parts)

    def concerns(self, level: Level) -> bool:
        return any(part.concerns(level) for part in self.parts)

    def values(self, level: Level) -> frozenset[str] | None:
        found = [v for part in self.parts if (v := part.values(level)) is not None]
        return frozenset.intersection(*found) if found else None

    def reaches(self, level: Level, beginning: str) -> bool:
        return all(part.reaches(level, beginning) for part in self.parts)


@dataclass(frozen=True, slots=True)
class Any:
    parts: tuple[NamePredicate, ...]

    def may(self, known: Known) -> bool:
        return any(part.may(known) for part in self.parts)

    def concerns(self, level: Level) -> bool:
        return any(part.concerns(level) for part in self.parts)

    def values(self, level: Level) -> frozenset[str] | None:
        found = [part.values(level) for part in self.parts]
        known = [v for v in found if v is not None]
        return frozenset().union(*known) if found and len(known) == len(found) else None

    def reaches(self, level: Level, beginning: str) -> bool:
        return any(part.reaches(level, beginning) for part in self.parts)


def both(*parts: NamePredicate) -> NamePredicate:
    """Returns the conjunction; predicates without a constraint are left out."""
    known = tuple(p for p in parts if p is not ANYTHING)
    return known[0] if len(known) == 1 else All(known) if known else ANYTHING


def either(*parts: NamePredicate) -> NamePredicate:
    """Returns the disjunction: if one part has no constraint, neither has the result. Parts of the same form become one
    list.
    """
    if not parts or any(p is ANYTHING for p in parts):
        return ANYTHING
    lists: dict[tuple[tuple[Level, Fold], ...], set[tuple[str, ...]]] = {}
    others = [part for part in parts if not _add_to_list(part, lists)]
    found = (*(_make_list(subjects, frozenset(rows)) for subjects, rows in lists.items()), *others)
    return found[0] if len(found) == 1 else Any(found)


MOST_ROWS = 100
"""The maximum number of rows that one predicate may expand to in order to be merged into a list."""


def _add_to_list(part: NamePredicate, lists: dict[tuple[tuple[Level, Fold], ...], set[tuple[str, ...]]]) -> bool:
    """Adds the names or rows of a predicate to the list of the same form. Returns False if the predicate is
    not a list.
    """
    singles = part.parts if isinstance(part, All) else (part,)
    names = [single for single in singles if isinstance(single, OneOf)]
    if isinstance(part, RowOf):
        lists.setdefault(part.subjects, set()).update(part.rows)
        return True
    if len(names) != len(singles) or len({n.level for n in names}) != len(names):
        return False
    if len(names) > 1 and prod(len(n.names) for n in names) > MOST_ROWS:
        return False
    names.sort(key=lambda n: (n.level, n.fold))
    subjects = tuple((n.level, n.fold) for n in names)
    lists.setdefault(subjects, set()).update(product(*(n.names for n in names)))
    return True


def _make_list(subjects: tuple[tuple[Level, Fold], ...], rows: frozenset[tuple[str, ...]]) -> NamePredicate:
    if len(subjects) > 1:
        return RowOf(subjects, rows)
    ((level, fold),) = subjects
    return OneOf(level, frozenset(name for (name,) in rows), fold)
