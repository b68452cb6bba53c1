"""system.metadata.schema_properties: one row per property that is set on a schema."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from pinakes.system_tables.base import TEXT, Column, Request, SystemTable
from pinakes.system_tables.catalog_metadata.listing import Space
from pinakes.system_tables.catalog_metadata.loading import load_spaces


class Property(NamedTuple):
    space: Space
    name: str
    value: str


def properties(request: Request) -> Iterator[Property]:
    for space, found in load_spaces(request):
        for name, value in sorted(found.items()):
            yield Property(space, name, value)


TABLE: SystemTable[Property] = SystemTable(
    name="schema_properties",
    doc="One row per property of a schema, such as its comment or location.",
    columns=(
        Column("catalog_name", TEXT, "Catalog of the schema", lambda p: p.space.catalog, level="catalog"),
        Column("schema_name", TEXT, "Name of the schema", lambda p: p.space.schema, level="schema"),
        Column("property_name", TEXT, "Name of the property", lambda p: p.name),
        Column("property_value", TEXT, "Value of the property", lambda p: p.value),
    ),
    items=properties,
)
