"""Compares two results by value: numbers of any type, floats with tolerance, times as instants, rows in any order."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

Row = tuple[Any, ...]

_GREEDY_LIMIT = 400
"""Rows up to which a partner is looked for by trying all; more are only compared in sorted order."""
_MICROSECONDS = {"s": 1_000_000, "ms": 1000, "us": 1}


@dataclass(frozen=True)
class Point:
    """A date, a timestamp or a time, in nanoseconds."""

    kind: str
    nanoseconds: int


@dataclass(frozen=True)
class Span:
    """An interval."""

    months: int
    days: int
    nanoseconds: int


class Incomparable(Exception):
    """A type that Arrow can't show in a form to compare."""


def rows(table: pa.Table) -> list[Row]:
    """The rows of a table, with values in one form for both engines."""
    if not table.num_columns:
        return [()] * table.num_rows
    return list(zip(*(_values(column) for column in table.columns), strict=True))


def tolerances(ours: pa.Schema, theirs: pa.Schema) -> list[tuple[float, float]]:
    """For each column, how far two numbers may differ: relatively, and absolutely."""
    return [_tolerance(a, b) for a, b in zip(ours.types, theirs.types, strict=True)]


def same_rows(ours: Sequence[Row], theirs: Sequence[Row], allowed: Sequence[tuple[float, float]]) -> bool:
    """Whether two lists have the same rows in the same order."""
    return len(ours) == len(theirs) and all(_same_row(a, b, allowed) for a, b in zip(ours, theirs, strict=True))


def same_multiset(ours: Sequence[Row], theirs: Sequence[Row], allowed: Sequence[tuple[float, float]]) -> bool:
    """Whether two lists have the same rows in any order."""
    if len(ours) != len(theirs):
        return False
    if same_rows(sorted(ours, key=_key), sorted(theirs, key=_key), allowed):
        return True
    if len(ours) > _GREEDY_LIMIT:
        return False
    left = list(theirs)
    for row in ours:
        partner = next((i for i, other in enumerate(left) if _same_row(row, other, allowed)), None)
        if partner is None:
            return False
        del left[partner]
    return True


# --- values ------------------------------------------------------------------------------------------------------


def _values(column: pa.ChunkedArray) -> list[Any]:
    kind = column.type
    types = pa.types
    if isinstance(kind, pa.ExtensionType):
        return [v for chunk in column.chunks for v in _values(pa.chunked_array([chunk.storage]))]
    if types.is_dictionary(kind):
        return _values(column.cast(kind.value_type))
    if types.is_date(kind):
        days = column.cast(pa.date32()).cast(pa.int32()).to_pylist()
        return [None if d is None else Point("timestamp", d * 86_400_000_000_000) for d in days]
    if types.is_timestamp(kind) or types.is_time(kind):
        factor = 1 if kind.unit == "ns" else 1000 * _MICROSECONDS[kind.unit]
        whole = column.cast(pa.int32() if types.is_time32(kind) else pa.int64()).to_pylist()
        word = "timestamp" if types.is_timestamp(kind) else "time"
        return [None if v is None else Point(word, v * factor) for v in whole]
    if types.is_duration(kind):
        factor = 1 if kind.unit == "ns" else 1000 * _MICROSECONDS[kind.unit]
        return [None if v is None else Span(0, 0, v * factor) for v in column.cast(pa.int64()).to_pylist()]
    if types.is_interval(kind):
        return [None if v is None else Span(v.months, v.days, v.nanoseconds) for v in column.to_pylist()]
    if types.is_struct(kind):
        return [v for chunk in column.chunks for v in _structs(chunk)]
    if types.is_map(kind):
        return [v for chunk in column.chunks for v in _maps(chunk)]
    if types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind):
        return [v for chunk in column.chunks for v in _lists(chunk)]
    if types.is_union(kind):
        raise Incomparable(str(kind))
    return list(column.to_pylist())


def _structs(chunk: pa.StructArray) -> list[Any]:
    fields = [_values(pa.chunked_array([chunk.field(i)])) for i in range(chunk.type.num_fields)]
    valid = chunk.is_valid().to_pylist()
    return [tuple(f[i] for f in fields) if there else None for i, there in enumerate(valid)]


def _lists(chunk: pa.ListArray) -> list[Any]:
    lengths = pc.list_value_length(chunk).to_pylist()
    flat = _values(pa.chunked_array([chunk.flatten()]))
    found, at = [], 0
    for length in lengths:
        found.append(None if length is None else tuple(flat[at : at + length]))
        at += length or 0
    return found


def _maps(chunk: pa.MapArray) -> list[Any]:
    offsets = chunk.offsets.to_pylist()
    keys = _values(pa.chunked_array([chunk.keys]))
    items = _values(pa.chunked_array([chunk.items]))
    start = offsets[0] if offsets else 0
    valid = chunk.is_valid().to_pylist()
    return [
        tuple(zip(keys[a - start : b - start], items[a - start : b - start], strict=True)) if there else None
        for a, b, there in zip(offsets, offsets[1:], valid, strict=False)
    ]


# --- equality ----------------------------------------------------------------------------------------------------


def _tolerance(ours: pa.DataType, theirs: pa.DataType) -> tuple[float, float]:
    both = list(_leaves(ours)) + list(_leaves(theirs))
    if any(pa.types.is_float32(t) or pa.types.is_float16(t) for t in both):
        relative = 1e-5
    else:
        relative = 1e-9 if any(pa.types.is_floating(t) for t in both) else 0.0
    scales = [t.scale for t in both if pa.types.is_decimal(t)]
    return relative, 10.0 ** -min(scales) if relative and scales else 0.0


def _leaves(kind: pa.DataType) -> Sequence[pa.DataType]:
    if not kind.num_fields:
        return [kind]
    return [leaf for i in range(kind.num_fields) for leaf in _leaves(kind.field(i).type)]


def _same_row(ours: Row, theirs: Row, allowed: Sequence[tuple[float, float]]) -> bool:
    return all(_same(a, b, *tolerance) for a, b, tolerance in zip(ours, theirs, allowed, strict=True))


def _same(a: Any, b: Any, relative: float, absolute: float) -> bool:
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) == len(b) and all(_same(x, y, relative, absolute) for x, y in zip(a, b, strict=True))
    if isinstance(a, bool) or isinstance(b, bool):
        return a is b
    if isinstance(a, int | float | Decimal) and isinstance(b, int | float | Decimal):
        return _same_number(a, b, relative, absolute)
    if isinstance(a, Span) and isinstance(b, Span):
        return _length(a) == _length(b)
    if isinstance(a, bytes) != isinstance(b, bytes) and isinstance(a, str | bytes) and isinstance(b, str | bytes):
        return _bytes(a) == _bytes(b)
    return bool(a == b)


def _same_number(a: float | Decimal, b: float | Decimal, relative: float, absolute: float) -> bool:
    if not (isinstance(a, float) or isinstance(b, float)):
        return a == b
    x, y = float(a), float(b)
    if math.isnan(x) or math.isnan(y) or math.isinf(x) or math.isinf(y):
        return x == y or (math.isnan(x) and math.isnan(y))
    return math.isclose(x, y, rel_tol=relative, abs_tol=max(absolute, 1e-11))


def _length(span: Span) -> int:
    """As PostgreSQL compares intervals: months of 30 days of 24 hours."""
    return ((span.months * 30 + span.days) * 86_400_000_000_000) + span.nanoseconds


def _bytes(value: str | bytes) -> bytes:
    return value.encode() if isinstance(value, str) else value


def _key(row: Row) -> str:
    """A text that sorts equal rows next to each other, most of the time: `_GREEDY_LIMIT` does the rest."""
    return "|".join(_key_of(value) for value in row)


def _key_of(value: Any) -> str:
    if isinstance(value, tuple):
        return f"({','.join(map(_key_of, value))})"
    if isinstance(value, int | float | Decimal) and not isinstance(value, bool):
        is_whole = math.isfinite(value) and abs(value) < 2**53 and value == int(value)
        return f"{float(value) + 0.0:.4e} {int(value) if is_whole else ''}"
    return str(_length(value)) if isinstance(value, Span) else repr(value)
