"""Formats a table's definition as a CREATE TABLE statement."""

from __future__ import annotations

from pyiceberg.partitioning import PartitionField
from pyiceberg.schema import Schema
from pyiceberg.table import Table
from pyiceberg.table.sorting import SortField
from pyiceberg.transforms import BucketTransform, IdentityTransform, TruncateTransform, VoidTransform
from pyiceberg.types import NestedField

from pinakes.core.iceberg_metadata import CHECKS, PROPERTY, checks_of, primary_key
from pinakes.core.names import spell, text_literal
from pinakes.core.types.default_text import default_text
from pinakes.core.types.sql import sql_name
from pinakes.engine.iceberg.write.loaded import is_record
from pinakes.engine.iceberg.write.partitions import field_path
from pinakes.engine.iceberg.write.sort_order import order_of


def create_table_text(name: str, table: Table) -> str:
    schema = table.schema()
    lines = [_column(f) for f in schema.fields]
    if schema.identifier_field_ids:
        key = ", ".join(map(spell, primary_key(schema, table.properties)))
        lines.append(f"PRIMARY KEY ({key})")
    for constraint, condition in checks_of(table.properties).items():
        lines.append(f"CONSTRAINT {spell(constraint)} CHECK ({condition})")
    text = f"CREATE TABLE {name} (\n" + ",\n".join(f"  {line}" for line in lines) + "\n)"
    terms = [_term(f, schema) for f in table.spec().fields if not isinstance(f.transform, VoidTransform)]
    if terms:
        text += f"\nPARTITIONED BY ({', '.join(terms)})"
    order = order_of(table.metadata)
    if order is not None:
        text += f"\nSORTED BY ({', '.join(_sort_term(f, schema) for f in order.fields)})"
    hidden = {PROPERTY, *(key for key in table.properties if is_record(key) or key.startswith(CHECKS))}
    properties = {key: value for key, value in table.properties.items() if key not in hidden}
    comment = properties.pop("comment", None)
    if comment:
        text += f"\nCOMMENT {text_literal(comment)}"
    properties["format-version"] = str(table.format_version)
    return (
        text + f"\nWITH ({', '.join(f'{text_literal(k)} = {text_literal(v)}' for k, v in sorted(properties.items()))})"
    )


def _column(field: NestedField) -> str:
    text = f"{spell(field.name)} {sql_name(field.field_type)}"
    if field.required:
        text += " NOT NULL"
    default = default_text(field)
    if default is not None:
        text += f" DEFAULT {default}"
    return text + (f" COMMENT {text_literal(field.doc)}" if field.doc else "")


def _sort_term(field: SortField, schema: Schema) -> str:
    return f"{_term(field, schema)} {field.direction} {field.null_order}"


def _term(field: PartitionField | SortField, schema: Schema) -> str:
    column = ".".join(spell(f.name) for f in field_path(schema.fields, field.source_id))
    match field.transform:
        case IdentityTransform():
            return column
        case BucketTransform():
            return f"bucket({field.transform.num_buckets}, {column})"
        case TruncateTransform():
            return f"truncate({field.transform.width}, {column})"
        case _:
            return f"{field.transform}({column})"
