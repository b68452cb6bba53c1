"""system.jdbc.attributes: attributes of user-defined types (DatabaseMetaData.getAttributes); there are none."""

from __future__ import annotations

from pinakes.system_tables.empty import empty

TABLE = empty(
    "attributes",
    "Attributes of user-defined types (DatabaseMetaData.getAttributes).",
    "type_cat type_schem type_name attr_name data_type:n attr_type_name attr_size:n decimal_digits:n "
    "num_prec_radix:n nullable:n remarks attr_def sql_data_type:n sql_datetime_sub:n char_octet_length:n "
    "ordinal_position:n is_nullable scope_catalog scope_schema scope_table source_data_type:n",
)
