"""information_schema.table_constraints: one row per constraint of a table."""

from __future__ import annotations

from pinakes.system_tables.base import TEXT, Column, SystemTable
from pinakes.system_tables.catalog_metadata.constraints import Constraint, list_constraints


def _no(_: Constraint) -> str:
    return "NO"


TABLE: SystemTable[Constraint] = SystemTable(
    name="table_constraints",
    doc="One row per primary key, UNIQUE, CHECK and NOT NULL of each table. "
    "NOT NULL and CHECK are enforced, unless the table is of a worker.",
    columns=(
        Column("constraint_catalog", TEXT, "Catalog of the table", lambda c: c.entry.catalog, level="catalog"),
        Column("constraint_schema", TEXT, "Schema of the table", lambda c: c.entry.schema, level="schema"),
        Column("constraint_name", TEXT, "Name of the constraint", lambda c: c.name),
        Column("table_catalog", TEXT, "Catalog of the table", lambda c: c.entry.catalog, level="catalog"),
        Column("table_schema", TEXT, "Schema of the table", lambda c: c.entry.schema, level="schema"),
        Column("table_name", TEXT, "Name of the table", lambda c: c.entry.name, level="table"),
        Column("constraint_type", TEXT, "PRIMARY KEY, UNIQUE, or CHECK, also for NOT NULL", lambda c: c.type),
        Column("is_deferrable", TEXT, "Always NO", _no),
        Column("initially_deferred", TEXT, "Always NO", _no),
        Column("enforced", TEXT, "YES if the constraint is enforced", lambda c: "YES" if c.is_enforced else "NO"),
    ),
    items=list_constraints,
)
