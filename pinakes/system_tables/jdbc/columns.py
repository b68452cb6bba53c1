"""system.jdbc.columns: one row per column of every table and view (DatabaseMetaData.getColumns)."""

from __future__ import annotations

from collections.abc import Callable

from pinakes.system_tables.base import NUMBER, TEXT, Column, SystemTable, always_null
from pinakes.system_tables.information_schema.columns import ColumnRow, column_rows
from pinakes.system_tables.jdbc_types import code_of, digits_of, octets_of, radix_of, size_of


def _typed(read: Callable[[str], int | None]) -> Callable[[ColumnRow], int | None]:
    return lambda row: read(row.column.type)


TABLE: SystemTable[ColumnRow] = SystemTable(
    name="columns",
    doc="One row per column of each table and view that the session sees.",
    columns=(
        Column("table_cat", TEXT, "Catalog of the table", lambda r: r.entry.catalog, level="catalog"),
        Column("table_schem", TEXT, "Schema of the table", lambda r: r.entry.schema, level="schema"),
        Column("table_name", TEXT, "Table of the column", lambda r: r.entry.name, level="table"),
        Column("column_name", TEXT, "Name of the column", lambda r: r.column.name, loads=True),
        Column("data_type", NUMBER, "Type, as a constant of java.sql.Types", _typed(code_of), loads=True),
        Column("type_name", TEXT, "SQL type", lambda r: r.column.type, loads=True),
        Column(
            "column_size",
            NUMBER,
            "Maximum number of digits, characters or bytes of a value",
            _typed(size_of),
            loads=True,
        ),
        always_null("buffer_length", NUMBER),
        Column(
            "decimal_digits",
            NUMBER,
            "Number of digits after the decimal point, or of fractional seconds",
            _typed(digits_of),
            loads=True,
        ),
        Column("num_prec_radix", NUMBER, "Base of the digits: 2 or 10", _typed(radix_of), loads=True),
        Column("nullable", NUMBER, "1 if the column can be NULL, else 0", lambda r: int(r.column.nullable), loads=True),
        Column("remarks", TEXT, "Comment on the column", lambda r: r.column.comment, loads=True),
        Column("column_def", TEXT, "Default value", lambda r: r.column.default, loads=True),
        always_null("sql_data_type", NUMBER),
        always_null("sql_datetime_sub", NUMBER),
        Column("char_octet_length", NUMBER, "Maximum number of bytes of a string", _typed(octets_of), loads=True),
        Column(
            "ordinal_position", NUMBER, "Position of the column, starting at 1", lambda r: r.column.position, loads=True
        ),
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
