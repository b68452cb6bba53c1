"""The constraints of tables: Iceberg's identifier fields as a primary key, CHECK, NOT NULL as a check of each column,
and those that workers declare. Unnamed constraints are named as in PostgreSQL.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from pinakes.core.catalog import IcebergTable
from pinakes.core.iceberg_metadata import checks_of
from pinakes.core.names import spell
from pinakes.core.worker_tables import WorkerTable
from pinakes.system_tables.base import Request
from pinakes.system_tables.catalog_metadata.columns import keys_of, required_of
from pinakes.system_tables.catalog_metadata.listing import Entry
from pinakes.system_tables.catalog_metadata.loading import Described, load_objects


class Constraint(NamedTuple):
    entry: Entry
    name: str
    type: str
    """PRIMARY KEY, UNIQUE or CHECK."""
    columns: tuple[str, ...]
    clause: str = ""
    """The condition of a CHECK."""
    is_enforced: bool = False


class Key(NamedTuple):
    """A column of a primary key or a UNIQUE constraint."""

    constraint: Constraint
    column: str
    position: int


def list_constraints(request: Request) -> Iterator[Constraint]:
    for found in load_objects(request, frozenset({"TABLE"})):
        yield from _constraints_of(found)


def list_checks(request: Request) -> Iterator[Constraint]:
    return (c for c in list_constraints(request) if c.type == "CHECK")


def list_keys(request: Request) -> Iterator[Key]:
    for constraint in list_constraints(request):
        if constraint.type != "CHECK":
            for position, column in enumerate(constraint.columns, 1):
                yield Key(constraint, column, position)


def _constraints_of(found: Described) -> Iterator[Constraint]:
    entry = found.entry
    key = tuple(keys_of(found.loaded))
    if key:
        yield Constraint(entry, f"{entry.name}_pkey", "PRIMARY KEY", key)
    for column in required_of(found.loaded):
        name, clause = f"{entry.name}_{column}_not_null", f"{spell(column)} IS NOT NULL"
        yield Constraint(entry, name, "CHECK", (column,), clause, is_enforced=True)
    if isinstance(found.loaded, IcebergTable):
        for name, condition in checks_of(found.loaded.handle.properties).items():
            yield Constraint(entry, name, "CHECK", (), condition, is_enforced=True)
    if isinstance(found.loaded, WorkerTable):
        yield from _declared(entry, found.loaded)


def _declared(entry: Entry, table: WorkerTable) -> Iterator[Constraint]:
    """Yields the constraints that only the worker itself checks."""
    for columns in table.unique:
        yield Constraint(entry, f"{entry.name}_{'_'.join(columns)}_key", "UNIQUE", columns)
    for number, clause in enumerate(table.checks):
        yield Constraint(entry, f"{entry.name}_check{number or ''}", "CHECK", (), clause)
