"""system.jdbc.tables: one row per table and view (DatabaseMetaData.getTables)."""

from __future__ import annotations

from collections.abc import Iterator

from pinakes.system_tables.base import TEXT, Column, Request, SystemTable, always_null, none
from pinakes.system_tables.catalog_metadata.listing import Kind, kinds_of, list_objects
from pinakes.system_tables.name_columns import Row, name_columns

TYPES: dict[Kind, str] = {"TABLE": "TABLE", "VIEW": "VIEW", "SYSTEM": "SYSTEM TABLE"}


def _type(row: Row) -> str:
    return TYPES[row.kind]


def _rows(request: Request) -> Iterator[Row]:
    return list_objects(request, kinds_of(request, TYPES))


TABLE: SystemTable[Row] = SystemTable(
    name="tables",
    doc="One row per table and view that the session sees. Reading it loads no tables.",
    columns=(
        *name_columns("table_cat", "table_schem", "table_name"),
        Column("table_type", TEXT, "TABLE, VIEW or SYSTEM TABLE", _type, level="kind"),
        Column("remarks", TEXT, "Always NULL; system.metadata.table_comments contains the comments", none),
        always_null("type_cat", TEXT),
        always_null("type_schem", TEXT),
        always_null("type_name", TEXT),
        always_null("self_referencing_col_name", TEXT),
        always_null("ref_generation", TEXT),
    ),
    items=_rows,
)
