"""system.metadata.table_comments: one row per table and view, with its comment."""

from __future__ import annotations

from collections.abc import Iterable

from pinakes.system_tables.base import TEXT, Column, Request, SystemTable
from pinakes.system_tables.catalog_metadata.columns import comment_of
from pinakes.system_tables.catalog_metadata.loading import Described, names_or_loaded
from pinakes.system_tables.name_columns import Row, name_columns


def _comment(row: Row) -> str | None:
    return comment_of(row.loaded) if isinstance(row, Described) else None


def _rows(request: Request) -> Iterable[Row]:
    return names_or_loaded(request, TABLE.loads(request))


TABLE: SystemTable[Row] = SystemTable(
    name="table_comments",
    doc="One row per table and view, with its comment.",
    columns=(
        *name_columns("catalog_name", "schema_name", "table_name"),
        Column("comment", TEXT, "Comment on the table; NULL if it has none", _comment, loads=True),
    ),
    items=_rows,
)
