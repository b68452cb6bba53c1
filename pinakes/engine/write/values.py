"""INSERT … VALUES whose rows disagree in their types, or say DEFAULT: each value is cast to its column by itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pyarrow as pa
from pyiceberg.schema import Schema
from pyiceberg.types import NestedField

from pinakes.core.iceberg_arrow import arrow_type_of
from pinakes.engine.splice import Edit
from pinakes.engine.write.shape import literal, type_name
from pinakes.parser.statements import Insert, Span
from pinakes.parser.value_rows import value_rows


def value_casts(statement: Insert, columns: Sequence[str], schema: Schema, time_zone: str) -> list[Edit] | None:
    """Edits that give every value its column's type; None when the statement is of another form."""
    rows = value_rows(statement)
    if not rows or any(len(row) != len(columns) for row in rows):
        return None
    fields = [schema.find_field(c) for c in columns]
    return [
        edit
        for row in rows
        for span, field in zip(row, fields, strict=True)
        for edit in _edits(statement, span, field, time_zone)
    ]


def _edits(statement: Insert, span: Span, field: NestedField, time_zone: str) -> Iterator[Edit]:
    target = arrow_type_of(field.field_type)
    if span.of(statement.text).strip().upper() == "DEFAULT":
        yield Edit(span.start, span.end, literal(field.write_default, target))
        return
    if pa.types.is_timestamp(target) and target.tz:
        target = pa.timestamp(target.unit, tz=time_zone)
    name = type_name(target)
    if name is not None:
        yield Edit(span.start, span.start, "arrow_cast(")
        yield Edit(span.end, span.end, f", '{name}')")
