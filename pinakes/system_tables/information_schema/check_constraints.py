"""information_schema.check_constraints: one row per CHECK and NOT NULL."""

from __future__ import annotations

from pinakes.system_tables.base import TEXT, Column, SystemTable
from pinakes.system_tables.catalog_metadata.constraints import Constraint, list_checks

TABLE: SystemTable[Constraint] = SystemTable(
    name="check_constraints",
    doc="One row per CHECK constraint and per NOT NULL column.",
    columns=(
        Column("constraint_catalog", TEXT, "Catalog of the table", lambda c: c.entry.catalog, level="catalog"),
        Column("constraint_schema", TEXT, "Schema of the table", lambda c: c.entry.schema, level="schema"),
        Column("constraint_name", TEXT, "Name of the constraint", lambda c: c.name),
        Column("check_clause", TEXT, "Condition that every row satisfies", lambda c: c.clause),
    ),
    items=list_checks,
)
