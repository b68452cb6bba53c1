"""The constraints of tables: Iceberg's identifier fields as a primary key, and NOT NULL as a check of each column."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from pinakes.core.names import spell
from pinakes.system_tables.base import Request
from pinakes.system_tables.described import keys_of, required_of
from pinakes.system_tables.listing import Entry
from pinakes.system_tables.loading import Described, described


class Constraint(NamedTuple):
    entry: Entry
    name: str
    type: str
    """PRIMARY KEY or CHECK."""
    columns: tuple[str, ...]

    @property
    def clause(self) -> str:
        """What a CHECK asks for."""
        return f"{spell(self.columns[0])} IS NOT NULL"


class Key(NamedTuple):
    """A column of a primary key."""

    constraint: Constraint
    column: str
    position: int


def constraints(request: Request) -> Iterator[Constraint]:
    for found in described(request, frozenset({"TABLE"})):
        yield from _constraints_of(found)


def checks(request: Request) -> Iterator[Constraint]:
    return (c for c in constraints(request) if c.type == "CHECK")


def keys(request: Request) -> Iterator[Key]:
    for constraint in constraints(request):
        if constraint.type == "PRIMARY KEY":
            for position, column in enumerate(constraint.columns, 1):
                yield Key(constraint, column, position)


def _constraints_of(found: Described) -> Iterator[Constraint]:
    entry = found.entry
    key = tuple(keys_of(found.loaded))
    if key:
        yield Constraint(entry, f"{entry.name}_pkey", "PRIMARY KEY", key)
    for column in required_of(found.loaded):
        yield Constraint(entry, f"{entry.name}_{column}_not_null", "CHECK", (column,))
