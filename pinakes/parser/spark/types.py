"""DataFusion's types of arithmetic, comparisons and aggregates, as far as the translation depends on them."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
from sqlglot import expressions as exp

MOST_DIGITS = 38
EXTRA_DIGITS = 4
"""Additional digits of a quotient of decimals over the dividend."""
QUOTIENT_SCALE = 16
_INTEGER_DIGITS = {8: 3, 16: 5, 32: 10, 64: 20}

LONG, DOUBLE, TEXT, TRUTH, DATE = pa.int64(), pa.float64(), pa.string(), pa.bool_(), pa.date32()
MOMENT = pa.timestamp("ns")


def is_integer(type: pa.DataType | None) -> bool:
    return type is not None and pa.types.is_integer(type)


def is_decimal(type: pa.DataType | None) -> bool:
    return type is not None and pa.types.is_decimal(type)


def is_float(type: pa.DataType | None) -> bool:
    return type is not None and pa.types.is_floating(type)


def is_number(type: pa.DataType | None) -> bool:
    return is_integer(type) or is_decimal(type) or is_float(type)


def is_text(type: pa.DataType | None) -> bool:
    t = pa.types
    return type is not None and (t.is_string(type) or t.is_large_string(type) or t.is_string_view(type))


def is_date(type: pa.DataType | None) -> bool:
    return type is not None and pa.types.is_date(type)


def is_moment(type: pa.DataType | None) -> bool:
    return type is not None and pa.types.is_timestamp(type)


def is_null(type: pa.DataType | None) -> bool:
    return type is not None and pa.types.is_null(type)


def decimal(precision: int, scale: int) -> pa.DataType:
    return pa.decimal128(min(precision, MOST_DIGITS), min(scale, MOST_DIGITS))


def as_decimal(type: pa.DataType) -> pa.DataType:
    """Returns the decimal type of an integer in an operation with a decimal."""
    return decimal(_INTEGER_DIGITS[type.bit_width], 0) if is_integer(type) else type


def of_arithmetic(operator: str, left: pa.DataType, right: pa.DataType) -> pa.DataType | None:
    """Returns the type of an arithmetic operation on numbers; None if it is unknown."""
    if is_null(left) or is_null(right):
        return right if is_null(left) else left
    if not is_number(left) or not is_number(right):
        return None
    if is_float(left) or is_float(right):
        return DOUBLE
    if is_integer(left) and is_integer(right):
        return pa.int64() if 64 in (left.bit_width, right.bit_width) else pa.int32()
    return _of_decimals(operator, as_decimal(left), as_decimal(right))


def _of_decimals(operator: str, left: pa.DataType, right: pa.DataType) -> pa.DataType | None:
    (p1, s1), (p2, s2) = (left.precision, left.scale), (right.precision, right.scale)
    match operator:
        case "+" | "-":
            scale = max(s1, s2)
            return decimal(max(p1 - s1, p2 - s2) + scale + 1, scale)
        case "*":
            return decimal(p1 + p2 + 1, s1 + s2)
        case "/":
            scale = min(s1 + EXTRA_DIGITS, MOST_DIGITS)
            return decimal(p1 + scale - s1 + s2, scale)
        case "%":
            scale = max(s1, s2)
            return decimal(min(p1 - s1, p2 - s2) + scale, scale)
    return None


def whole_digits(type: pa.DataType, node: exp.Expr) -> int:
    """Returns the maximum digits before the decimal point, as counted by `parser/typed`."""
    if isinstance(node, exp.Literal) and not node.is_string:
        return len(str(int(node.name.partition(".")[0] or 0) + ("." in node.name)))
    if is_integer(type):
        return len(str(2 ** (type.bit_width - 1)))
    return int(type.precision - type.scale) + 1


def quotient(left: pa.DataType, right: pa.DataType, result: pa.DataType, whole: int) -> pa.DataType:
    """Returns the type of a quotient of decimals: with 16 digits after the point if they fit (`parser/typed`)."""
    scale = min(QUOTIENT_SCALE, MOST_DIGITS - whole - as_decimal(right).scale - 1)
    return result if scale - 3 <= as_decimal(left).scale else decimal(MOST_DIGITS, scale)


def common(*types: pa.DataType | None) -> pa.DataType | None:
    """Returns the common type of CASE, COALESCE and UNION; None if it is unknown."""
    found: pa.DataType | None = pa.null()
    for type in types:
        found = _of_two(found, type)
    return found


def _of_two(left: pa.DataType | None, right: pa.DataType | None) -> pa.DataType | None:
    if left is None or right is None:
        return None
    if left == right or is_null(right):
        return left
    if is_null(left):
        return right
    if is_text(left) and is_text(right):
        return TEXT
    if is_moment(left) and is_moment(right):
        return left if left.tz == right.tz else None
    if not is_number(left) or not is_number(right):
        return None
    if is_decimal(left) != is_decimal(right) and (is_float(left) or is_float(right)):
        return DOUBLE
    if is_decimal(left) or is_decimal(right):
        left, right = as_decimal(left), as_decimal(right)
        scale = max(left.scale, right.scale)
        return decimal(max(left.precision - left.scale, right.precision - right.scale) + scale, scale)
    return of_arithmetic("+", left, right)


def is_exact(types: Sequence[pa.DataType | None]) -> bool:
    """Returns whether one decimal type holds all values of these types. Otherwise Spark drops digits after the point
    when it compares or combines them.
    """
    exact = [as_decimal(type) for type in types if type is not None and (is_decimal(type) or is_integer(type))]
    if not any(map(is_decimal, types)) or any(map(is_float, types)):
        return True
    return bool(max(type.precision - type.scale for type in exact) + max(type.scale for type in exact) <= MOST_DIGITS)


def spark_quotient_scale(left: pa.DataType, right: pa.DataType) -> int:
    """Returns the digits after the point that Spark keeps of a quotient of decimals
    (`spark.sql.decimalOperations.allowPrecisionLoss` is false).
    """
    whole = min(MOST_DIGITS, left.precision - left.scale + right.scale)
    scale = min(MOST_DIGITS, max(6, left.scale + right.precision + 1))
    excess = whole + scale - MOST_DIGITS
    return int(scale - (excess // 2 + 1) if excess > 0 else scale)


def of_sum(type: pa.DataType | None) -> pa.DataType | None:
    if is_decimal(type):
        assert type is not None
        return decimal(type.precision + 10, type.scale)
    return LONG if is_integer(type) else DOUBLE if is_float(type) else None


def of_average(type: pa.DataType | None) -> pa.DataType | None:
    if is_decimal(type):
        assert type is not None
        return decimal(type.precision + EXTRA_DIGITS, type.scale + EXTRA_DIGITS)
    return DOUBLE if is_number(type) else None


def in_spark(type: pa.DataType) -> str | None:
    """Returns Spark's name of a type; None if it has no equivalent."""
    t = pa.types
    if is_decimal(type):
        return f"decimal({type.precision},{type.scale})"
    if is_moment(type):
        return "timestamp" if type.tz is not None else "timestamp_ntz"
    if t.is_uint64(type):
        return "decimal(20,0)"
    for holds, name in _NAMES:
        if holds(type):
            return name
    return None


_NAMES = (
    (pa.types.is_boolean, "boolean"),
    (pa.types.is_int8, "tinyint"),
    (pa.types.is_int16, "smallint"),
    (pa.types.is_uint8, "smallint"),
    (pa.types.is_int32, "int"),
    (pa.types.is_uint16, "int"),
    (pa.types.is_int64, "bigint"),
    (pa.types.is_uint32, "bigint"),
    (pa.types.is_float32, "float"),
    (pa.types.is_float64, "double"),
    (is_text, "string"),
    (is_date, "date"),
    (pa.types.is_binary, "binary"),
    (pa.types.is_large_binary, "binary"),
    (pa.types.is_binary_view, "binary"),
    (is_null, "void"),
)


def agrees(inferred: pa.DataType, planned: pa.DataType) -> bool:
    """Returns whether an inferred type is of the same kind as the planned one; the width of integers is ignored."""
    for kind in (is_integer, is_float, is_text, is_date):
        if kind(inferred) or kind(planned):
            return kind(inferred) == kind(planned)
    if is_decimal(inferred) or is_decimal(planned):
        return is_decimal(inferred) and is_decimal(planned) and inferred.scale == planned.scale
    if is_moment(inferred) or is_moment(planned):
        return is_moment(inferred) and is_moment(planned) and (inferred.tz is None) == (planned.tz is None)
    return bool(inferred == planned) or is_null(inferred)
