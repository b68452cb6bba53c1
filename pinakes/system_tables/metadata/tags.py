"""system.metadata.tags: one row per tag of a schema, table or view: a property whose name begins with `tag.`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from pinakes.system_tables.base import TEXT, Column, Request, SystemTable
from pinakes.system_tables.metadata import schema_properties, table_properties

PREFIX = "tag."


class Tag(NamedTuple):
    catalog: str
    schema: str
    table: str | None
    name: str
    value: str


def _rows(request: Request) -> Iterator[Tag]:
    if request.wanted.values("table") is None:
        for s in schema_properties.properties(request):
            if s.name.startswith(PREFIX):
                yield Tag(s.space.catalog, s.space.schema, None, s.name.removeprefix(PREFIX), s.value)
    for t in table_properties.properties(request):
        if t.name.startswith(PREFIX):
            entry = t.entry
            yield Tag(entry.catalog, entry.schema, entry.name, t.name.removeprefix(PREFIX), t.value)


TABLE: SystemTable[Tag] = SystemTable(
    name="tags",
    doc="One row per tag of a schema, table or view. The property 'tag.owner' is the tag 'owner'.",
    columns=(
        Column("catalog_name", TEXT, "Catalog of the object", lambda t: t.catalog, level="catalog"),
        Column("schema_name", TEXT, "Schema of the object", lambda t: t.schema, level="schema"),
        Column("table_name", TEXT, "Table or view; NULL for a tag of a schema", lambda t: t.table, level="table"),
        Column("tag_name", TEXT, "Name of the tag", lambda t: t.name),
        Column("tag_value", TEXT, "Value of the tag", lambda t: t.value),
    ),
    items=_rows,
)
