"""system.metadata.property_definitions: one row per property that can be set in a catalog, with its effect."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from pinakes.system_tables.base import TEXT, Column, Request, SystemTable
from pinakes.system_tables.catalog_metadata.listing import list_catalogs
from pinakes.system_tables.property_list import DEFINITIONS, Definition


class Row(NamedTuple):
    catalog: str
    definition: Definition


def _rows(request: Request) -> Iterator[Row]:
    for mount in list_catalogs(request):
        if not mount.read_only and mount.type != "files":
            for definition in DEFINITIONS:
                yield Row(mount.name, definition)


TABLE: SystemTable[Row] = SystemTable(
    name="property_definitions",
    doc="One row per property that has an effect on tables or schemas of a catalog. Others have no effect.",
    columns=(
        Column("catalog_name", TEXT, "Catalog in which the property can be set", lambda r: r.catalog, level="catalog"),
        Column("property_name", TEXT, "Name of the property", lambda r: r.definition.name),
        Column("default_value", TEXT, "Default value", lambda r: r.definition.default),
        Column("type", TEXT, "Type of the value", lambda r: r.definition.type),
        Column("description", TEXT, "Description", lambda r: r.definition.doc),
        Column("object_type", TEXT, "Type of object: TABLE or SCHEMA", lambda r: r.definition.of),
    ),
    items=_rows,
)
