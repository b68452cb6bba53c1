"""Checks assignments to columns on Spark: values of a compatible type, which lose nothing or make the statement
fail.
"""

from __future__ import annotations

import pyarrow as pa

from pinakes.parser.spark import types as t
from pinakes.parser.spark.tree import refused


def assigned_type(given: pa.DataType, column: pa.DataType, name: str) -> str:
    """Returns Spark's name of the type that a value is cast to for a column."""
    found = t.in_spark(column)
    if found is None or found == "void":
        raise refused(f"the column {name} of type {column}")
    if not _fits(given, column):
        raise refused(f"a value of type {given} for the column {name} of type {column}, without a CAST,")
    return found.upper()


def _fits(given: pa.DataType, column: pa.DataType) -> bool:
    if t.is_null(given) or given == column:
        return True
    if t.is_decimal(column):
        return t.is_integer(given) or (t.is_decimal(given) and given.scale <= column.scale)
    if t.is_float(column):
        return t.is_number(given)
    for kind in (t.is_integer, t.is_text, t.is_date):
        if kind(column):
            return kind(given)
    if t.is_moment(column):
        return t.is_moment(given) and (given.tz is None) == (column.tz is None)
    return bool(pa.types.is_binary(column) and pa.types.is_binary(given))
