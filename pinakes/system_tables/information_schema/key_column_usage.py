"""information_schema.key_column_usage: one row per column of a primary key or a UNIQUE constraint."""

from __future__ import annotations

from pinakes.system_tables.base import NUMBER, TEXT, Column, SystemTable, none
from pinakes.system_tables.catalog_metadata.constraints import Key, list_keys


def _catalog(key: Key) -> str:
    return key.constraint.entry.catalog


def _schema(key: Key) -> str:
    return key.constraint.entry.schema


TABLE: SystemTable[Key] = SystemTable(
    name="key_column_usage",
    doc="One row per column of each primary key and UNIQUE constraint.",
    columns=(
        Column("constraint_catalog", TEXT, "Catalog of the table", _catalog, level="catalog"),
        Column("constraint_schema", TEXT, "Schema of the table", _schema, level="schema"),
        Column("constraint_name", TEXT, "Name of the key", lambda k: k.constraint.name),
        Column("table_catalog", TEXT, "Catalog of the table", _catalog, level="catalog"),
        Column("table_schema", TEXT, "Schema of the table", _schema, level="schema"),
        Column("table_name", TEXT, "Name of the table", lambda k: k.constraint.entry.name, level="table"),
        Column("column_name", TEXT, "Column of the key", lambda k: k.column),
        Column("ordinal_position", NUMBER, "Position of the column in the key, starting at 1", lambda k: k.position),
        Column("position_in_unique_constraint", NUMBER, "Always NULL, because there are no foreign keys", none),
    ),
    items=list_keys,
)
