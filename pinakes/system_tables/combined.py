"""Predicates on names joined by AND and OR. Lists of names, and of rows of names, are kept as sets: a query for a
thousand tables by name is as fast as one for ten.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import prod

from pinakes.system_tables.conditions import ANYTHING, FOLDS, Condition, Fold, Known, Level, OneOf, is_odd


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
    parts: tuple[Condition, ...]

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
    parts: tuple[Condition, ...]

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


def both(*parts: Condition) -> Condition:
    """Returns the conjunction; predicates without a constraint are left out."""
    known = tuple(p for p in parts if p is not ANYTHING)
    return known[0] if len(known) == 1 else All(known) if known else ANYTHING


def either(*parts: Condition) -> Condition:
    """Returns the disjunction: if one part has no constraint, neither has the result. Parts of the same form become one
    list.
    """
    if not parts or any(p is ANYTHING for p in parts):
        return ANYTHING
    lists: dict[tuple[tuple[Level, Fold], ...], set[tuple[str, ...]]] = {}
    others = [part for part in parts if not _is_taken(part, lists)]
    found = (*(_listed(subjects, frozenset(rows)) for subjects, rows in lists.items()), *others)
    return found[0] if len(found) == 1 else Any(found)


MOST_ROWS = 100
"""The maximum number of rows that one predicate may expand to in order to be merged into a list."""


def _is_taken(part: Condition, lists: dict[tuple[tuple[Level, Fold], ...], set[tuple[str, ...]]]) -> bool:
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


def _listed(subjects: tuple[tuple[Level, Fold], ...], rows: frozenset[tuple[str, ...]]) -> Condition:
    if len(subjects) > 1:
        return RowOf(subjects, rows)
    ((level, fold),) = subjects
    return OneOf(level, frozenset(name for (name,) in rows), fold)
