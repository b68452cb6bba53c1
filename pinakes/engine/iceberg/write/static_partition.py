"""PARTITION (column = constant, …): columns with one value for all rows of an INSERT."""

from __future__ import annotations

import pyarrow as pa
from pyiceberg.table import Table
from pyiceberg.transforms import IdentityTransform

from pinakes.core.errors import ColumnExists, ColumnNotFound, InvalidArgument, TypeMismatch, listing
from pinakes.core.names import match, text_literal
from pinakes.core.types.iceberg_arrow import arrow_type_of
from pinakes.engine.datafusion.plan_schema import schema_of
from pinakes.engine.iceberg.write.shape import cast, literal, type_name
from pinakes.engine.statement_context import Execution
from pinakes.parser.statements import Insert, Query


def static_values(statement: Insert, execution: Execution, table: Table) -> dict[str, str]:
    """Returns the constants as SQL in the columns' types, by exact name.

    Every column must be an identity partition column; the query provides those without a value.
    """
    known = _identity_columns(table)
    found: dict[str, str] = {}
    named: set[str] = set()
    for given in statement.partition:
        name = match(given.column, known, "column")
        if name is None:
            raise ColumnNotFound(
                f"PARTITION names {given.column}, by which the table is not partitioned; available: "
                f"{listing(known)}. Rows find a partition of any other kind by themselves."
            )
        if name in named:
            raise ColumnExists(f"column {given.column} is named twice in PARTITION")
        named.add(name)
        if given.value is not None:
            kind = arrow_type_of(table.schema().find_field(name).field_type, execution.session.settings.time_zone)
            found[name] = _constant(given.value.of(statement.text), kind, execution, name)
    return found


def _identity_columns(table: Table) -> list[str]:
    schema = table.schema()
    fields = [f for f in table.spec().fields if isinstance(f.transform, IdentityTransform)]
    return [f.name for f in schema.fields if f.field_id in {field.source_id for field in fields}]


def _constant(text: str, kind: pa.DataType, execution: Execution, name: str) -> str:
    """Evaluates a constant once, so that the new rows and the replaced rows have the same value."""
    source = execution.session.engine.caches.statements.classify(f"SELECT {text}")
    if not isinstance(source, Query) or source.tables:
        raise InvalidArgument(f"PARTITION ({name} = …) needs a constant, not {text}")
    planner = execution.planner()
    wanted = cast(f"({text}\n)", schema_of(planner.query(source).frame).field(0).type, kind)
    value = execution.collect(planner.plan(f"SELECT {wanted}", source)).column(0)[0]
    if not value.is_valid:
        return "NULL"
    if isinstance(value.as_py() if pa.types.is_binary(kind) else None, bytes):
        return literal(value.as_py(), kind)
    if type_name(kind) is None:
        raise TypeMismatch(f"PARTITION ({name} = …): a constant of type {kind} can't be given")
    return f"arrow_cast({text_literal(value.cast(pa.string()).as_py())}, '{type_name(kind)}')"
