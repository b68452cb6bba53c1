"""system.jdbc.udts: user-defined types (DatabaseMetaData.getUDTs); there are none."""

from __future__ import annotations

from pinakes.system_tables.empty import empty

TABLE = empty(
    "udts",
    "User-defined types (DatabaseMetaData.getUDTs).",
    "type_cat type_schem type_name class_name data_type remarks base_type",
)
