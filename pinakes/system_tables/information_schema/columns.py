"""information_schema.columns: one row per column of every table and view."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from pinakes.system_tables.base import NUMBER, TEXT, Column, Request, SystemTable, none
from pinakes.system_tables.described import ColumnFacts, columns_of
from pinakes.system_tables.listing import Entry
from pinakes.system_tables.loading import described
from pinakes.system_tables.sql_sizes import Sizes, sizes_of


class ColumnRow(NamedTuple):
    entry: Entry
    column: ColumnFacts


def column_rows(request: Request) -> Iterator[ColumnRow]:
    """Yields the columns of all matching tables and views."""
    for found in described(request):
        for column in columns_of(found, request.world):
            yield ColumnRow(found.entry, column)


def _sized(read: Callable[[Sizes], int | None]) -> Callable[[ColumnRow], int | None]:
    return lambda row: read(sizes_of(row.column.type))


TABLE: SystemTable[ColumnRow] = SystemTable(
    name="columns",
    doc="One row per column of each table and view that the session sees.",
    columns=(
        Column("table_catalog", TEXT, "Catalog that the table is in", lambda r: r.entry.catalog, level="catalog"),
        Column("table_schema", TEXT, "Schema that the table is in", lambda r: r.entry.schema, level="schema"),
        Column("table_name", TEXT, "Table that the column is in", lambda r: r.entry.name, level="table"),
        Column("column_name", TEXT, "Name of the column", lambda r: r.column.name, loads=True),
        Column("ordinal_position", NUMBER, "Place of the column, from 1", lambda r: r.column.position, loads=True),
        Column("column_default", TEXT, "Value of a row that gives none", lambda r: r.column.default, loads=True),
        Column("is_nullable", TEXT, "NO when the column is NOT NULL", lambda r: _yes(r.column.nullable), loads=True),
        Column("data_type", TEXT, "Type, as CREATE TABLE reads it back", lambda r: r.column.type, loads=True),
        Column("comment", TEXT, "Comment on the column", lambda r: r.column.comment, loads=True),
        Column("extra_info", TEXT, "Always NULL; there for clients of Trino", none),
        Column("character_maximum_length", NUMBER, "Always NULL: texts have any length", none),
        Column("character_octet_length", NUMBER, "Bytes of a binary(n)", _sized(lambda s: s.length), loads=True),
        Column("numeric_precision", NUMBER, "Digits of a number", _sized(lambda s: s.precision), loads=True),
        Column("numeric_precision_radix", NUMBER, "What they count: 2 or 10", _sized(lambda s: s.radix), loads=True),
        Column("numeric_scale", NUMBER, "Digits after the point", _sized(lambda s: s.scale), loads=True),
        Column("datetime_precision", NUMBER, "Digits after the second", _sized(lambda s: s.seconds), loads=True),
        Column("udt_name", TEXT, "Type without its numbers", lambda r: sizes_of(r.column.type).base, loads=True),
    ),
    items=column_rows,
)


def _yes(value: bool) -> str:
    return "YES" if value else "NO"
