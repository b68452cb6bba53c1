"""system.metadata.table_properties: one row per property that is set on a table or view."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from pinakes.system_tables.base import TEXT, Column, Request, SystemTable
from pinakes.system_tables.described import properties_of
from pinakes.system_tables.listing import STORED, Entry
from pinakes.system_tables.loading import described


class Property(NamedTuple):
    entry: Entry
    name: str
    value: str


def properties(request: Request) -> Iterator[Property]:
    for found in described(request, STORED):
        for name, value in sorted(properties_of(found.loaded).items()):
            yield Property(found.entry, name, value)


TABLE: SystemTable[Property] = SystemTable(
    name="table_properties",
    doc="One row per property that is set on a table or view. What may be set is in property_definitions.",
    columns=(
        Column("catalog_name", TEXT, "Catalog that the table is in", lambda p: p.entry.catalog, level="catalog"),
        Column("schema_name", TEXT, "Schema that the table is in", lambda p: p.entry.schema, level="schema"),
        Column("table_name", TEXT, "Name of the table", lambda p: p.entry.name, level="table"),
        Column("property_name", TEXT, "Name of the property", lambda p: p.name),
        Column("property_value", TEXT, "Value that it has", lambda p: p.value),
    ),
    items=properties,
)
