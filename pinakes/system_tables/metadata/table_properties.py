"""system.metadata.table_properties: one row per property that is set on a table or view."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from pinakes.system_tables.base import TEXT, Column, Request, SystemTable
from pinakes.system_tables.catalog_metadata.columns import properties_of
from pinakes.system_tables.catalog_metadata.listing import STORED, Entry
from pinakes.system_tables.catalog_metadata.loading import load_objects


class Property(NamedTuple):
    entry: Entry
    name: str
    value: str


def properties(request: Request) -> Iterator[Property]:
    for found in load_objects(request, STORED):
        for name, value in sorted(properties_of(found.loaded).items()):
            yield Property(found.entry, name, value)


TABLE: SystemTable[Property] = SystemTable(
    name="table_properties",
    doc="One row per property of a table or view. property_definitions lists the properties with an effect.",
    columns=(
        Column("catalog_name", TEXT, "Catalog of the table", lambda p: p.entry.catalog, level="catalog"),
        Column("schema_name", TEXT, "Schema of the table", lambda p: p.entry.schema, level="schema"),
        Column("table_name", TEXT, "Name of the table", lambda p: p.entry.name, level="table"),
        Column("property_name", TEXT, "Name of the property", lambda p: p.name),
        Column("property_value", TEXT, "Value of the property", lambda p: p.value),
    ),
    items=properties,
)
