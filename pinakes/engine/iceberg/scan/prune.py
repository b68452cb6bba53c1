"""File pruning: evaluates predicates against file metadata.

A predicate becomes one truth value per file: false only if no row of the file can satisfy it. An unsupported predicate
prunes nothing (None), and DataFusion still applies every predicate to the rows, so the worst case is an unnecessary
read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyiceberg.schema import Schema
from pyiceberg.types import NestedField, StringType, StructType, TimestampNanoType, TimestamptzNanoType

from pinakes.engine.datafusion.parquet_scan import UUID_TEXT
from pinakes.engine.iceberg.scan.bounds import Range, is_floating, kind_of
from pinakes.engine.iceberg.scan.column import Column, Known
from pinakes.engine.iceberg.scan.monotonic_functions import argument
from pinakes.engine.iceberg.scan.strict_pruning import Failing
from pinakes.engine.pushdown import predicate as p

_SAME = "IS NOT DISTINCT FROM"
MOST_VALUES = 200
"""The maximum length of an IN list; of a longer one, only the minimum and maximum are used."""


class Pruner:
    """Prunes the files of one snapshot under one schema."""

    def __init__(self, files: Known, schema: Schema) -> None:
        self._files = files
        self._fields = {field.name: field for field in schema.fields}

    def files(self, predicate: p.Predicate) -> list[int]:
        """Returns the numbers of the files that may have a row for which the predicate is true."""
        mask = self.mask(predicate)
        if mask is None:
            return list(range(len(self._files)))
        found: list[int] = pc.indices_nonzero(mask).to_pylist()
        return found

    def mask(self, predicate: p.Predicate) -> pa.Array | None:
        """Returns true for every file that may have a row for which the predicate is true."""
        match predicate:
            case p.And(parts):
                mask = None
                for part in parts:
                    mask = _both(mask, self.mask(part))
                return mask
            case p.Or(parts):
                return self._any_of(self.mask(part) for part in parts)
            case p.Comparison():
                found = self.comparison(predicate)
                return None if found is None else self.compared(*found)
            case p.In():
                return self._in_list(predicate)
            case p.Is(tested, "NULL", negated):
                column = self.column(tested)
                if column is None:
                    return None
                return self.not_all_null(column) if negated else self.may_be_null(column)
            case p.Like():
                return self._like(predicate)
            case p.Is(tested, "TRUE", False):
                return self.mask(tested)
            case p.Is(tested, "TRUE", True) | p.Is(tested, "FALSE", False) | p.Not(tested):
                return Failing(self).mask(tested)
        return None

    def _any_of(self, masks: Iterable[pa.Array | None]) -> pa.Array | None:
        found = pa.repeat(pa.scalar(False), len(self._files))
        for mask in masks:
            if mask is None:
                return None
            found = pc.or_(found, mask)
        return found

    # --- kinds of predicates --------------------------------------------------------------------------------------

    def comparison(self, predicate: p.Comparison) -> tuple[Column, str, pa.Scalar] | None:
        """Returns a column, an operator and a literal; None for any other comparison."""
        operator = "=" if predicate.operator == _SAME else predicate.operator  # a NULL literal has no value here
        column = self.shown(predicate.left) if operator in _COMPARE else None
        if column is None or not isinstance(predicate.right, p.Literal):
            return None
        value = column.value(predicate.right.value)
        return None if value is None else (column, operator, value)

    def compared(self, column: Column, operator: str, value: pa.Scalar) -> pa.Array | None:
        """Returns true for every file in which a value of the column may satisfy the comparison."""
        mask = self.not_all_null(column)
        if is_floating(column.kind):
            return _both(mask, self._floating(column, operator, value))
        for known in column.ranges:
            mask = _both(mask, _within(known, operator, value))
        return _both(mask, self._in_bucket(column, value)) if operator == "=" else mask

    def _floating(self, column: Column, operator: str, value: pa.Scalar) -> pa.Array | None:
        """Compares floating-point numbers: bounds leave out NaN, the greatest value, and -0.0 may sort before 0.0 or
        not.
        """
        ranges = column.ranges
        if value.as_py() != value.as_py() or not ranges or operator == "!=":
            return None
        if value.as_py() == 0:
            mask = _within(ranges[0], {"<": "<=", ">": ">="}.get(operator, operator), value)
        else:
            mask = _within(ranges[0], operator, value)
        if column.has_nan and operator in (">", ">="):
            nans = self._files.counts("nan_value_counts", column.field_id)
            return pc.or_(mask, pc.fill_null(pc.not_equal(nans, 0), True))
        return mask

    def _in_bucket(self, column: Column, value: pa.Scalar) -> pa.Array | None:
        mask = None
        if column.images or isinstance(column.type, TimestampNanoType | TimestamptzNanoType):
            return None  # engines hash nanosecond timestamps differently
        for known in self._files.buckets(column.field_id):
            hashed = known.transform.transform(column.type)(_internal(value))
            mask = _both(mask, pc.fill_null(pc.equal(known.values, pa.scalar(hashed, pa.int32())), True))
        return mask

    def _in_list(self, predicate: p.In) -> pa.Array | None:
        found = None if predicate.negated else self.listed(predicate)
        if found is None:
            return None
        column, values = found
        if len(values) > MOST_VALUES:
            return self._between(column, values)
        return self._any_of(self.compared(column, "=", value) for value in values)

    def listed(self, predicate: p.In) -> tuple[Column, list[pa.Scalar]] | None:
        """Returns the column and the literals of an IN list."""
        column = self.shown(predicate.tested)
        if column is None or not predicate.values:
            return None
        values = [column.value(v.value) if isinstance(v, p.Literal) else None for v in predicate.values]
        return None if any(value is None for value in values) else (column, values)

    def _between(self, column: Column, values: Sequence[Any]) -> pa.Array | None:
        if is_floating(column.kind):
            return None
        order = sorted(values, key=lambda value: value.as_py())
        return _both(self.compared(column, ">=", order[0]), self.compared(column, "<=", order[-1]))

    def _like(self, predicate: p.Like) -> pa.Array | None:
        """Converts a pattern with a literal prefix to a range of strings."""
        column, pattern = self.column(predicate.tested), predicate.pattern
        is_plain = not predicate.negated and not predicate.caseless and predicate.escape is None
        if not is_plain or column is None or not isinstance(pattern, p.Literal):
            return None
        value = column.value(pattern.value) if isinstance(column.type, StringType) else None
        begin = _literal_prefix(value.as_py()) if value is not None else b""
        if not begin:
            return None
        after = self.compared(column, ">=", pa.scalar(begin, pa.binary()))
        return _both(after, self.compared(column, "<=", pa.scalar(begin + b"\xff", pa.binary())))

    def may_be_null(self, column: Column) -> pa.Array:
        if column.within:  # writers differ on whether a NULL struct counts for its fields
            return pa.repeat(pa.scalar(True), len(self._files))
        nulls = self._files.counts("null_value_counts", column.field_id)
        return pc.fill_null(pc.not_equal(nulls, 0), True)

    def not_all_null(self, column: Column) -> pa.Array:
        return self._files.not_all_null(column.field_id)

    def shown(self, e: p.Predicate) -> Column | None:
        """Returns a column, plain or behind functions that preserve order (`monotonic_functions.py`)."""
        column, inner = self.column(e), argument(e)
        if column is not None or inner is None:
            return column
        under = self.shown(inner)
        return None if under is None else under.behind(e)

    def column(self, e: p.Predicate) -> Column | None:
        """Returns the column or nested field of an expression, also within the UUID formatter."""
        as_text = isinstance(e, p.Call) and e.function == UUID_TEXT
        if isinstance(e, p.Call) and as_text:
            (e,) = e.arguments
        field = self._field(e) if isinstance(e, p.ColumnRef) else None
        if field is None or kind_of(field.field_type) is None:
            return None
        within = isinstance(e, p.ColumnRef) and bool(e.path)
        return Column(self._files, field.field_id, field.field_type, as_text=as_text, within=within)

    def _field(self, column: p.ColumnRef) -> NestedField | None:
        field = self._fields.get(column.name)
        for name in column.path:
            if field is None or not isinstance(field.field_type, StructType):
                return None
            field = next((f for f in field.field_type.fields if f.name == name), None)
        return field


# --- values ------------------------------------------------------------------------------------------------------

_COMPARE: dict[str, Callable[[Range, pa.Scalar], pa.Array]] = {
    "=": lambda r, v: pc.and_kleene(pc.less_equal(r.least, v), pc.greater_equal(r.greatest, v)),
    "<": lambda r, v: pc.less(r.least, v),
    "<=": lambda r, v: pc.less_equal(r.least, v),
    ">": lambda r, v: pc.greater(r.greatest, v),
    ">=": lambda r, v: pc.greater_equal(r.greatest, v),
    "!=": lambda r, v: pc.or_kleene(pc.not_equal(r.least, v), pc.not_equal(r.greatest, v)),
}


def _within(known: Range, operator: str, value: pa.Scalar) -> pa.Array:
    return pc.fill_null(_COMPARE[operator](known, value), True)


def _both(one: pa.Array | None, other: pa.Array | None) -> pa.Array | None:
    if one is None or other is None:
        return other if one is None else one
    return pc.and_(one, other)


def _internal(value: pa.Scalar) -> Any:
    """Returns a value as pyiceberg hashes it: days, microseconds or the value itself."""
    if pa.types.is_date(value.type):
        return value.cast(pa.int32()).as_py()
    if pa.types.is_temporal(value.type):
        return value.cast(pa.int64()).as_py()
    return value.as_py()


def _literal_prefix(pattern: bytes) -> bytes:
    """Returns the part of a LIKE pattern before its first special character."""
    ends = [pattern.find(c) for c in (b"%", b"_", b"\\")]
    return pattern[: min((e for e in ends if e >= 0), default=len(pattern))]
