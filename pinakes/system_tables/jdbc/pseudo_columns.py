"""system.jdbc.pseudo_columns: hidden columns of tables (DatabaseMetaData.getPseudoColumns); there are none."""

from __future__ import annotations

from pinakes.system_tables.empty import empty

TABLE = empty(
    "pseudo_columns",
    "Hidden columns of tables (DatabaseMetaData.getPseudoColumns).",
    "table_cat table_schem table_name column_name data_type:n column_size:n decimal_digits:n num_prec_radix:n "
    "column_usage remarks char_octet_length:n is_nullable:n",
)
