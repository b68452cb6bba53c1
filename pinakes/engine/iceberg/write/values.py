"""INSERT … VALUES: casts each value to its column if DataFusion would change it.

DataFusion gives each column of a VALUES list a single type first: '007' in a list with 1 becomes 7, and a decimal
becomes a double. It also does not support DEFAULT.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import pyarrow as pa
from pyiceberg.schema import Schema
from pyiceberg.types import NestedField

from pinakes.core.types.iceberg_arrow import arrow_type_of
from pinakes.engine.iceberg.write.shape import exact_number, literal, planned_type, type_name
from pinakes.parser.splice import Edit
from pinakes.parser.statements import Insert, Span
from pinakes.parser.value_rows import value_rows

_KINDS = (
    ("null", re.compile(r"NULL\Z", re.IGNORECASE)),
    ("default", re.compile(r"DEFAULT\Z", re.IGNORECASE)),
    ("integer", re.compile(r"[+-]?[0-9]{1,18}\Z")),
    ("number", re.compile(r"[+-]?[0-9]*\.?[0-9]+(?:[eE][+-]?[0-9]+)?\Z")),
    ("text", re.compile(r"'(?:[^']|'')*'\Z")),
)


def value_casts(statement: Insert, columns: Sequence[str], schema: Schema, time_zone: str) -> list[Edit]:
    """Returns edits for the columns that need casts; none if the statement has another form."""
    rows = value_rows(statement)
    if not rows or any(len(row) != len(columns) for row in rows):
        return []
    edits: list[Edit] = []
    for name, spans in zip(columns, zip(*rows, strict=True), strict=True):
        field = schema.find_field(name)
        target = arrow_type_of(field.field_type, time_zone)
        texts = [span.of(statement.text).strip() for span in spans]
        if _needs_casts({_kind(text) for text in texts} - {"null"}, len(texts), target):
            edits += [e for span, text in zip(spans, texts, strict=True) for e in _edits(span, text, field, target)]
    return edits


def _needs_casts(kinds: set[str], rows: int, target: pa.DataType) -> bool:
    if "default" in kinds or ("number" in kinds and pa.types.is_decimal(target)):
        return True
    return rows > 1 and (len(kinds) > 1 or "other" in kinds)


def _kind(text: str) -> str:
    return next((kind for kind, pattern in _KINDS if pattern.match(text)), "other")


def _edits(span: Span, text: str, field: NestedField, target: pa.DataType) -> Iterator[Edit]:
    if _kind(text) == "default":
        yield Edit(span.start, span.end, literal(field.write_default, target))
        return
    name = type_name(planned_type(target))
    if name is None:
        return
    number = exact_number(text, target)
    if number != text:
        yield Edit(span.start, span.end, f"arrow_cast({number}, '{name}')")
        return
    yield Edit(span.start, span.start, "arrow_cast(")
    yield Edit(span.end, span.end, f", '{name}')")
