"""system.jdbc.columns: one row per column of every table and view (DatabaseMetaData.getColumns)."""

from __future__ import annotations

from collections.abc import Callable

from pinakes.system_tables.base import NUMBER, TEXT, Column, SystemTable, always_null
from pinakes.system_tables.information_schema.columns import ColumnRow, column_rows
from pinakes.system_tables.jdbc_codes import code_of, digits_of, octets_of, radix_of, size_of


def _typed(read: Callable[[str], int | None]) -> Callable[[ColumnRow], int | None]:
    return lambda row: read(row.column.type)


TABLE: SystemTable[ColumnRow] = SystemTable(
    name="columns",
    doc="One row per column of each table and view that the session sees.",
    columns=(
        Column("table_cat", TEXT, "Catalog that the table is in", lambda r: r.entry.catalog, level="catalog"),
        Column("table_schem", TEXT, "Schema that the table is in", lambda r: r.entry.schema, level="schema"),
        Column("table_name", TEXT, "Table that the column is in", lambda r: r.entry.name, level="table"),
        Column("column_name", TEXT, "Name of the column", lambda r: r.column.name, loads=True),
        Column("data_type", NUMBER, "Type, as a number of java.sql.Types", _typed(code_of), loads=True),
        Column("type_name", TEXT, "Type, as SQL spells it", lambda r: r.column.type, loads=True),
        Column("column_size", NUMBER, "Digits, characters or bytes of a value", _typed(size_of), loads=True),
        always_null("buffer_length", NUMBER),
        Column("decimal_digits", NUMBER, "Digits after the point or the second", _typed(digits_of), loads=True),
        Column("num_prec_radix", NUMBER, "What the digits count: 2 or 10", _typed(radix_of), loads=True),
        Column("nullable", NUMBER, "1 when it may be NULL, else 0", lambda r: int(r.column.nullable), loads=True),
        Column("remarks", TEXT, "Comment on the column", lambda r: r.column.comment, loads=True),
        Column("column_def", TEXT, "Value of a row that gives none", lambda r: r.column.default, loads=True),
        always_null("sql_data_type", NUMBER),
        always_null("sql_datetime_sub", NUMBER),
        Column("char_octet_length", NUMBER, "Bytes of a text", _typed(octets_of), loads=True),
        Column("ordinal_position", NUMBER, "Place of the column, from 1", lambda r: r.column.position, loads=True),
        Column("is_nullable", TEXT, "YES or NO", lambda r: "YES" if r.column.nullable else "NO", loads=True),
        always_null("scope_catalog", TEXT),
        always_null("scope_schema", TEXT),
        always_null("scope_table", TEXT),
        always_null("source_data_type", NUMBER),
        Column("is_autoincrement", TEXT, "Always NO", lambda _: "NO"),
        Column("is_generatedcolumn", TEXT, "Always NO", lambda _: "NO"),
    ),
    items=column_rows,
)
