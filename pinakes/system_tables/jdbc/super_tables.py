"""system.jdbc.super_tables: tables that others inherit from (DatabaseMetaData.getSuperTables); there are none."""

from __future__ import annotations

from pinakes.system_tables.empty import empty

TABLE = empty(
    "super_tables",
    "Tables that others inherit from (DatabaseMetaData.getSuperTables).",
    "table_cat table_schem table_name supertable_name",
)
