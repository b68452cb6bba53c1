"""Shared columns: the names of a row's catalog, schema and table."""

from __future__ import annotations

from operator import attrgetter

from pinakes.system_tables.base import TEXT, Column
from pinakes.system_tables.catalog_metadata.listing import Entry
from pinakes.system_tables.catalog_metadata.loading import Described

Row = Entry | Described
"""A table or view by its name, or with its metadata."""

_NESTED = "Schema of the table; nested schemas are joined with dots"


def name_columns(catalog: str, schema: str, table: str) -> tuple[Column[Row], Column[Row], Column[Row]]:
    """Returns the three columns that identify the table of a row, with the column names of this system table."""
    return (
        Column(catalog, TEXT, "Catalog of the table", attrgetter("catalog"), level="catalog"),
        Column(schema, TEXT, _NESTED, attrgetter("schema"), level="schema"),
        Column(table, TEXT, "Name of the table", attrgetter("name"), level="table"),
    )
