"""system.jdbc.procedures: stored procedures (DatabaseMetaData.getProcedures); there are none."""

from __future__ import annotations

from pinakes.system_tables.empty import empty

TABLE = empty(
    "procedures",
    "Stored procedures (DatabaseMetaData.getProcedures).",
    "procedure_cat procedure_schem procedure_name remarks procedure_type:n specific_name",
)
