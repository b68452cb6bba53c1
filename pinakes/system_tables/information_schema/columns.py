"""information_schema.columns: one row per column of every table and view."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from pinakes.system_tables.base import NUMBER, TEXT, Column, Request, SystemTable, none
from pinakes.system_tables.catalog_metadata.columns import ColumnFacts, columns_of
from pinakes.system_tables.catalog_metadata.listing import Entry
from pinakes.system_tables.catalog_metadata.loading import load_objects
from pinakes.system_tables.jdbc_types import Sizes, sizes_of


class ColumnRow(NamedTuple):
    entry: Entry
    column: ColumnFacts


def column_rows(request: Request) -> Iterator[ColumnRow]:
    """Yields the columns of all matching tables and views."""
    for found in load_objects(request):
        for column in columns_of(found, request.context):
            yield ColumnRow(found.entry, column)


def _sized(read: Callable[[Sizes], int | None]) -> Callable[[ColumnRow], int | None]:
    return lambda row: read(sizes_of(row.column.type))


TABLE: SystemTable[ColumnRow] = SystemTable(
    name="columns",
    doc="One row per column of each table and view that the session sees.",
    columns=(
        Column("table_catalog", TEXT, "Catalog of the table", lambda r: r.entry.catalog, level="catalog"),
        Column("table_schema", TEXT, "Schema of the table", lambda r: r.entry.schema, level="schema"),
        Column("table_name", TEXT, "Table of the column", lambda r: r.entry.name, level="table"),
        Column("column_name", TEXT, "Name of the column", lambda r: r.column.name, loads=True),
        Column(
            "ordinal_position", NUMBER, "Position of the column, starting at 1", lambda r: r.column.position, loads=True
        ),
        Column("column_default", TEXT, "Default value", lambda r: r.column.default, loads=True),
        Column(
            "is_nullable", TEXT, "NO if the column is NOT NULL, else YES", lambda r: _yes(r.column.nullable), loads=True
        ),
        Column("data_type", TEXT, "Type, as in CREATE TABLE", lambda r: r.column.type, loads=True),
        Column("comment", TEXT, "Comment on the column", lambda r: r.column.comment, loads=True),
        Column("extra_info", TEXT, "Always NULL; for compatibility with Trino", none),
        Column("character_maximum_length", NUMBER, "Always NULL, because strings have no maximum length", none),
        Column(
            "character_octet_length", NUMBER, "Length of a binary(n) in bytes", _sized(lambda s: s.length), loads=True
        ),
        Column("numeric_precision", NUMBER, "Number of digits", _sized(lambda s: s.precision), loads=True),
        Column("numeric_precision_radix", NUMBER, "Base of the digits: 2 or 10", _sized(lambda s: s.radix), loads=True),
        Column(
            "numeric_scale", NUMBER, "Number of digits after the decimal point", _sized(lambda s: s.scale), loads=True
        ),
        Column(
            "datetime_precision",
            NUMBER,
            "Number of fractional digits of the seconds",
            _sized(lambda s: s.seconds),
            loads=True,
        ),
        Column("udt_name", TEXT, "Type without parameters", lambda r: sizes_of(r.column.type).base, loads=True),
    ),
    items=column_rows,
)


def _yes(value: bool) -> str:
    return "YES" if value else "NO"
