"""system.metadata.errors: the metadata errors that the session's user met."""

from __future__ import annotations

from collections.abc import Iterable

from pinakes.system_tables.base import MOMENT, TEXT, Column, Request, SystemTable
from pinakes.system_tables.metadata_errors import Fault


def _rows(request: Request) -> Iterable[Fault]:
    return request.world.faults.of(request.world.identity)


TABLE: SystemTable[Fault] = SystemTable(
    name="errors",
    doc="What could not be read of the catalogs' metadata lately, oldest first: each user sees what they met.",
    columns=(
        Column("catalog_name", TEXT, "Catalog that was asked", lambda f: f.catalog),
        Column("schema_name", TEXT, "Schema that it was asked for; NULL for the whole catalog", lambda f: f.schema),
        Column("table_name", TEXT, "Table that it was asked for; NULL for a whole schema", lambda f: f.table),
        Column("operation", TEXT, "What it was asked to do", lambda f: f.operation),
        Column("code", TEXT, "Code of the error", lambda f: f.code),
        Column("message", TEXT, "What the error says", lambda f: f.message),
        Column("occurred_at", MOMENT, "When it happened", lambda f: f.at),
        Column("user", TEXT, "User whose query met it", lambda f: f.user),
    ),
    items=_rows,
)
