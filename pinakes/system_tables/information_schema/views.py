"""information_schema.views: one row per view, with its query."""

from __future__ import annotations

from collections.abc import Iterable

from pinakes.core.catalog import ViewDefinition
from pinakes.system_tables.base import TEXT, Column, Request, SystemTable
from pinakes.system_tables.catalog_metadata.loading import Described, names_or_loaded
from pinakes.system_tables.name_columns import Row, name_columns


def _definition(row: Row) -> str | None:
    return row.loaded.sql if isinstance(row, Described) and isinstance(row.loaded, ViewDefinition) else None


def _rows(request: Request) -> Iterable[Row]:
    return names_or_loaded(request, TABLE.loads(request), frozenset({"VIEW"}))


TABLE: SystemTable[Row] = SystemTable(
    name="views",
    doc="One row per view that users created.",
    columns=(
        *name_columns("table_catalog", "table_schema", "table_name"),
        Column("view_definition", TEXT, "Query of the view", _definition, loads=True),
    ),
    items=_rows,
)
