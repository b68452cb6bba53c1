"""Metadata tables of an Iceberg table, by the table's name and a suffix: `"t$snapshots"`.

A table that actually has such a name takes precedence. The rows are those of system.iceberg, restricted to this table.
"""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING

from pinakes.core.catalog import IcebergTable, Table, ViewDefinition, VirtualColumn, VirtualTable
from pinakes.core.errors import NotSupportedError, TableNotFound, listing
from pinakes.core.names import Name, display

if TYPE_CHECKING:
    from pinakes.engine.binding.namespaces import ResolvedTable

MARK = "$"


def split(name: Name) -> tuple[Name, str] | None:
    """Returns the table's name and the suffix; None for a name without one."""
    base, mark, suffix = name.last.text.rpartition(MARK)
    if not mark or not base or name.is_path:
        return None
    return Name((*name.parts[:-1], replace(name.last, text=base))), suffix


def metadata_of(found: ResolvedTable, suffix: str) -> ResolvedTable:
    """Returns the metadata table of a resolved table. TableNotFound lists the available suffixes."""
    from pinakes.system_tables.iceberg import SUFFIXES

    wanted = suffix.lower()
    if wanted not in SUFFIXES:
        known = listing((f"{found.name}{MARK}{s}" for s in SUFFIXES), 20)
        full_name = display(found.place.mount.name, found.place.namespace, f"{found.name}{MARK}{suffix}")
        raise TableNotFound(f"table {full_name} does not exist; the metadata of {found} is in: {known}")
    if found.kind != "TABLE":
        raise TableNotFound(f"{found} is not an Iceberg table but a {found.kind.lower()}: it has no {MARK}{suffix}")
    return replace(found, name=f"{found.name}{MARK}{wanted}", kind="METADATA")


def table_of(found: ResolvedTable) -> ResolvedTable:
    """Returns the table that a metadata table belongs to."""
    return replace(found, name=found.name.rpartition(MARK)[0], kind="TABLE")


def virtual(found: ResolvedTable, table: Table | ViewDefinition) -> VirtualTable:
    """Returns the metadata as a virtual table, once its base table is loaded."""
    from pinakes.system_tables.iceberg import SUFFIXES
    from pinakes.system_tables.iceberg_metadata.declaration import table_of_one

    suffix = found.name.rpartition(MARK)[2]
    if not isinstance(table, IcebergTable):
        raise NotSupportedError(f"{table_of(found)} is not an Iceberg table: it has no {MARK}{suffix}")
    declared = import_module(f"pinakes.system_tables.iceberg.{SUFFIXES[suffix]}").METADATA
    definition = table_of_one(declared, table)
    columns = tuple(VirtualColumn(c.name, c.type, c.doc) for c in definition.columns)
    return VirtualTable(found.place.namespace, found.name, columns, definition, found.place.mount.name)
