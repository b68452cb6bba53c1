"""system.jdbc.table_types: the kinds of tables (DatabaseMetaData.getTableTypes)."""

from __future__ import annotations

from collections.abc import Iterable

from pinakes.system_tables.base import TEXT, Column, Request, SystemTable
from pinakes.system_tables.jdbc.tables import TYPES


def _rows(_: Request) -> Iterable[str]:
    return sorted(TYPES.values())


TABLE: SystemTable[str] = SystemTable(
    name="table_types",
    doc="One row per kind of table in system.jdbc.tables.",
    columns=(Column("table_type", TEXT, "SYSTEM TABLE, TABLE or VIEW", lambda t: t),),
    items=_rows,
)
