"""`"t$snapshots"`: what stands in the metadata of an Iceberg table, under the table's own name and a suffix.

A table that really has such a name is found before. The rows are those of system.iceberg, of this table alone.
"""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING

from pinakes.core.catalog import IcebergTable, Table, ViewDefinition, VirtualColumn, VirtualTable
from pinakes.core.errors import NotSupportedError, TableNotFound, listing
from pinakes.core.names import Name, display

if TYPE_CHECKING:
    from pinakes.engine.binding.namespaces import Found

MARK = "$"


def split(name: Name) -> tuple[Name, str] | None:
    """The table's own name and the suffix; None for a name without one."""
    base, mark, suffix = name.last.text.rpartition(MARK)
    if not mark or not base or name.is_path:
        return None
    return Name((*name.parts[:-1], replace(name.last, text=base))), suffix


def metadata_of(found: Found, suffix: str) -> Found:
    """The metadata of a table that was found; TableNotFound lists which there is."""
    from pinakes.system_tables.iceberg import SUFFIXES

    wanted = suffix.lower()
    if wanted not in SUFFIXES:
        known = listing((f"{found.name}{MARK}{s}" for s in SUFFIXES), 20)
        asked = display(found.place.mount.name, found.place.namespace, f"{found.name}{MARK}{suffix}")
        raise TableNotFound(f"table {asked} does not exist; the metadata of {found} is in: {known}")
    if found.kind != "TABLE":
        raise TableNotFound(f"{found} is no Iceberg table, but a {found.kind.lower()}: it has no {MARK}{suffix}")
    return replace(found, name=f"{found.name}{MARK}{wanted}", kind="METADATA")


def table_of(found: Found) -> Found:
    """The table that metadata is of."""
    return replace(found, name=found.name.rpartition(MARK)[0], kind="TABLE")


def virtual(found: Found, table: Table | ViewDefinition) -> VirtualTable:
    """The metadata as a table, once the table that it is of is loaded."""
    from pinakes.system_tables.iceberg import SUFFIXES
    from pinakes.system_tables.iceberg_metadata import of_one

    suffix = found.name.rpartition(MARK)[2]
    if not isinstance(table, IcebergTable):
        raise NotSupportedError(f"{table_of(found)} is no Iceberg table: it has no {MARK}{suffix}")
    declared = import_module(f"pinakes.system_tables.iceberg.{SUFFIXES[suffix]}").METADATA
    definition = of_one(declared, table)
    columns = tuple(VirtualColumn(c.name, c.type, c.doc) for c in definition.columns)
    return VirtualTable(found.place.namespace, found.name, columns, definition, found.place.mount.name)
