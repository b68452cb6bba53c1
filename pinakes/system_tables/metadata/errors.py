"""system.metadata.errors: the metadata errors that the session's user met."""

from __future__ import annotations

from collections.abc import Iterable

from pinakes.system_tables.base import MOMENT, TEXT, Column, Request, SystemTable
from pinakes.system_tables.catalog_metadata.errors import Fault


def _rows(request: Request) -> Iterable[Fault]:
    return request.context.faults.of(request.context.identity)


TABLE: SystemTable[Fault] = SystemTable(
    name="errors",
    doc="Recent errors while reading metadata of catalogs, oldest first. Users see errors of their own queries.",
    columns=(
        Column("catalog_name", TEXT, "Catalog that failed", lambda f: f.catalog),
        Column("schema_name", TEXT, "Requested schema; NULL for the whole catalog", lambda f: f.schema),
        Column("table_name", TEXT, "Requested table; NULL for a whole schema", lambda f: f.table),
        Column("operation", TEXT, "Requested operation", lambda f: f.operation),
        Column("code", TEXT, "Error code", lambda f: f.code),
        Column("message", TEXT, "Error message", lambda f: f.message),
        Column("occurred_at", MOMENT, "Time of the error", lambda f: f.at),
        Column("user", TEXT, "User of the query", lambda f: f.user),
    ),
    items=_rows,
)
