"""system.jdbc.super_types: types that others inherit from (DatabaseMetaData.getSuperTypes); there are none."""

from __future__ import annotations

from pinakes.system_tables.empty import empty

TABLE = empty(
    "super_types",
    "Types that others inherit from (DatabaseMetaData.getSuperTypes).",
    "type_cat type_schem type_name supertype_cat supertype_schem supertype_name",
)
