"""File pruning: evaluates DataFusion's predicates against file metadata.

A predicate becomes one truth value per file: false only if no row of the file can satisfy it. An unsupported predicate
prunes nothing (None), and DataFusion still applies every predicate to the rows, so the worst case is an unnecessary
read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from datafusion import Expr
from pyiceberg.schema import Schema
from pyiceberg.types import NestedField, StringType, StructType, TimestampNanoType, TimestamptzNanoType

from pinakes.engine.iceberg.scan.bounds import Range, is_floating, kind_of
from pinakes.engine.iceberg.scan.column import Column, Known
from pinakes.engine.iceberg.scan.monotonic_functions import argument
from pinakes.engine.iceberg.scan.native import UUID_TEXT
from pinakes.engine.iceberg.scan.strict_pruning import Failing

TURNED = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "=": "=", "!=": "!="}
_SAME = "IS NOT DISTINCT FROM"
MOST_VALUES = 200
"""The maximum length of an IN list; of a longer one, only the minimum and maximum are used."""


class Pruner:
    """Prunes the files of one snapshot under one schema."""

    def __init__(self, files: Known, schema: Schema) -> None:
        self._files = files
        self._fields = {field.name: field for field in schema.fields}

    def files(self, scans: Iterable[Sequence[Expr]]) -> list[int]:
        """Returns the numbers of the files that any scan needs. The predicates of a scan are combined with AND."""
        masks = [self._all(conditions) for conditions in scans]
        if not masks or any(mask is None for mask in masks):
            return list(range(len(self._files)))
        found: list[int] = pc.indices_nonzero(_any(masks)).to_pylist()
        return found

    def _all(self, conditions: Sequence[Expr]) -> pa.Array | None:
        mask = None
        for condition in conditions:
            mask = _both(mask, self.mask(condition))
        return mask

    def mask(self, e: Expr) -> pa.Array | None:
        """Returns true for every file that may have a row for which the predicate is true."""
        match e.variant_name():
            case "BinaryExpr":
                return self._binary(e)
            case "InList":
                return self._in_list(e)
            case "IsNull":
                return self._is_null(e)
            case "IsNotNull":
                return self._is_not_null(e)
            case "Like":
                return self._like(e)
            case "IsTrue":
                return self.mask(e.rex_call_operands()[0])
            case "IsNotTrue" | "IsFalse" | "Not":
                return Failing(self).mask(e.rex_call_operands()[0])
        return None

    # --- kinds of predicates --------------------------------------------------------------------------------------

    def _binary(self, e: Expr) -> pa.Array | None:
        operator, (left, right) = e.rex_call_operator(), e.rex_call_operands()
        if operator == "AND":
            return _both(self.mask(left), self.mask(right))
        if operator == "OR":
            one, other = self.mask(left), self.mask(right)
            return None if one is None or other is None else pc.or_(one, other)
        found = self.comparison(e)
        return None if found is None else self.compared(*found)

    def comparison(self, e: Expr) -> tuple[Column, str, pa.Scalar] | None:
        """Returns a column, an operator and a literal; None for any other expression."""
        operator, (left, right) = e.rex_call_operator(), e.rex_call_operands()
        operator = "=" if operator == _SAME else operator  # a NULL literal has no value here
        if operator not in TURNED:
            return None
        if left.variant_name() == "Literal":
            left, right, operator = right, left, TURNED[operator]
        column = self.shown(left)
        if column is None or right.variant_name() != "Literal":
            return None
        value = column.value(right.python_value())
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

    def _in_list(self, e: Expr) -> pa.Array | None:
        found = self.listed(e)
        if found is None or e.to_variant().negated():
            return None
        column, values = found
        if len(values) > MOST_VALUES:
            return self._between(column, values)
        masks = [self.compared(column, "=", value) for value in values]
        return None if any(mask is None for mask in masks) else _any(masks)

    def listed(self, e: Expr) -> tuple[Column, list[pa.Scalar]] | None:
        """Returns the column and the literals of an IN list."""
        column, literals = self.shown(e.rex_call_operands()[0]), e.rex_call_operands()[1:]
        if column is None or any(x.variant_name() != "Literal" for x in literals):
            return None
        values = [column.value(x.python_value()) for x in literals]
        return (column, values) if values and all(value is not None for value in values) else None

    def _between(self, column: Column, values: Sequence[Any]) -> pa.Array | None:
        if is_floating(column.kind):
            return None
        order = sorted(values, key=lambda value: value.as_py())
        return _both(self.compared(column, ">=", order[0]), self.compared(column, "<=", order[-1]))

    def _like(self, e: Expr) -> pa.Array | None:
        """Converts a pattern with a literal prefix to a range of strings."""
        column, pattern = self.column(e.rex_call_operands()[0]), e.rex_call_operands()[1]
        like = e.rex_call_operator() == "like" and e.to_variant().escape_char() is None
        if not like or column is None or pattern.variant_name() != "Literal":
            return None
        value = column.value(pattern.python_value()) if isinstance(column.type, StringType) else None
        begin = _literal_prefix(value.as_py()) if value is not None else b""
        if not begin:
            return None
        after = self.compared(column, ">=", pa.scalar(begin, pa.binary()))
        return _both(after, self.compared(column, "<=", pa.scalar(begin + b"\xff", pa.binary())))

    def _is_null(self, e: Expr) -> pa.Array | None:
        column = self.column(e.rex_call_operands()[0])
        return None if column is None else self.may_be_null(column)

    def _is_not_null(self, e: Expr) -> pa.Array | None:
        column = self.column(e.rex_call_operands()[0])
        return None if column is None else self.not_all_null(column)

    def may_be_null(self, column: Column) -> pa.Array:
        if column.within:  # writers differ on whether a NULL struct counts for its fields
            return pa.repeat(pa.scalar(True), len(self._files))
        nulls = self._files.counts("null_value_counts", column.field_id)
        return pc.fill_null(pc.not_equal(nulls, 0), True)

    def not_all_null(self, column: Column) -> pa.Array:
        return self._files.not_all_null(column.field_id)

    def shown(self, e: Expr) -> Column | None:
        """Returns a column, plain or behind functions that preserve order (`monotonic_functions.py`)."""
        column, inner = self.column(e), argument(e)
        if column is not None or inner is None:
            return column
        under = self.shown(inner)
        return None if under is None else under.behind(e)

    def column(self, e: Expr) -> Column | None:
        """Returns the column or nested field of an expression, unwrapping `nanvl` and the UUID formatter."""
        as_text = False
        if e.variant_name() == "ScalarFunction" and e.rex_call_operator() in ("nanvl", UUID_TEXT):
            inner = e.rex_call_operands()
            if len({str(x) for x in inner}) != 1:
                return None
            as_text, e = e.rex_call_operator() == UUID_TEXT, inner[0]
        field = self._field(e)
        if field is None or kind_of(field.field_type) is None:
            return None
        within = e.variant_name() != "Column"
        return Column(self._files, field.field_id, field.field_type, as_text=as_text, within=within)

    def _field(self, e: Expr) -> NestedField | None:
        if e.variant_name() == "Column":
            return self._fields.get(e.to_variant().name())
        if e.variant_name() != "ScalarFunction" or e.rex_call_operator() != "get_field":
            return None
        inner, *names = e.rex_call_operands()
        field = self._field(inner)
        for name in names:
            if field is None or not isinstance(field.field_type, StructType) or name.variant_name() != "Literal":
                return None
            wanted = str(name.python_value())
            field = next((f for f in field.field_type.fields if f.name == wanted), None)
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


def _any(masks: Sequence[Any]) -> pa.Array:
    found = masks[0]
    for mask in masks[1:]:
        found = pc.or_(found, mask)
    return found


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
