"""system.jdbc.procedure_columns: parameters of procedures (DatabaseMetaData.getProcedureColumns); there are none."""

from __future__ import annotations

from pinakes.system_tables.empty import empty

TABLE = empty(
    "procedure_columns",
    "Parameters of stored procedures (DatabaseMetaData.getProcedureColumns).",
    "procedure_cat procedure_schem procedure_name column_name column_type:n data_type:n type_name precision:n "
    "length:n scale:n radix:n nullable:n remarks column_def sql_data_type:n sql_datetime_sub:n "
    "char_octet_length:n ordinal_position:n is_nullable specific_name",
)
