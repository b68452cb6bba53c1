"""Arithmetic: exact decimals, and integers and decimals that report an overflow instead of wrapping around."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from pinakes.parser.typed import NONZERO, temporal
from pinakes.parser.typed import nodes as n
from pinakes.parser.typed.casts import exact_text
from pinakes.parser.typed.coercion import sql_name
from pinakes.parser.typed.values import (
    DOUBLE,
    INT64,
    MOST_DIGITS,
    Value,
    bound_of,
    is_decimal,
    is_float,
    is_integer,
    usual_nan,
)
from pinakes.parser.workarounds.writing import all_below, bare, is_repeatable

if TYPE_CHECKING:
    from pinakes.parser.typed.writer import Scope, Writer

_MOST = {pa.int8(): 2**7, pa.int16(): 2**15, pa.int32(): 2**31, pa.int64(): 2**63}
_LONGEST = 300
"""Maximum characters of a dividend that is duplicated in the text: nested ones would grow exponentially."""
_NAMES = {pa.int8(): "TINYINT", pa.int16(): "SMALLINT", pa.int32(): "INT", pa.int64(): "BIGINT"}


def number(writer: Writer, node: n.Number, scope: Scope) -> Value:
    """1 is a BIGINT, 1.5 a DECIMAL, 1e5 a DOUBLE."""
    text = node.text.replace("_", "")
    if "e" in text.lower():
        return Value(f"CAST('{text}' AS DOUBLE)", DOUBLE)
    whole, point, fraction = text.partition(".")
    if not point:
        value = int(text)
        digits = len(str(value))
        type = (
            INT64
            if value < 2**63
            else pa.uint64()
            if value < 2**64
            else pa.decimal128(digits)
            if digits <= 38
            else None
        )
        return Value(None if text == node.text else text, type, value)
    digits = len(whole.lstrip("0")) + len(fraction)
    if digits > MOST_DIGITS or len(fraction) > MOST_DIGITS:
        return Value(f"CAST('{text}' AS DOUBLE)", DOUBLE)
    return Value(
        None if text == node.text else text,
        pa.decimal128(max(digits, len(fraction), 1), len(fraction)),
        int(whole or 0) + 1,
    )


def negated(writer: Writer, node: n.Unary, scope: Scope) -> Value:
    operand = writer.value(node.operand, scope)
    is_unsigned = operand.type is not None and pa.types.is_unsigned_integer(operand.type)
    if node.operator == "-" and is_unsigned and not isinstance(node.operand, n.Number):
        operand = _wider(writer, node.operand, operand, operand)
    plain = Value(writer.composed(node, ((node.operand, operand.text),)), operand.type, operand.bound)
    if node.operator == "-" and isinstance(node.operand, n.Number) and operand.bound == 2**63:
        return Value(plain.text, INT64, 2**63)  # the least BIGINT, whose digits alone exceed the range
    length = temporal.length_of(node.operand) if node.operator == "-" else None
    if length is not None:  # DataFusion would negate only the first field
        return Value(temporal.written(temporal.Length(*(-part for part in length))), operand.type)
    if node.operator == "-" and is_float(operand.type) and not isinstance(node.operand, n.Number):
        return usual_nan(plain.text or writer.source[node.start : node.end], operand.type)
    if node.operator != "-" or isinstance(node.operand, n.Number) or not is_integer(operand.type):
        return plain
    assert operand.type is not None
    if operand.type not in _MOST or (operand.bound is not None and operand.bound < _MOST[operand.type]):
        return plain
    writer.checks = True
    wide = f"(- {_wide(writer, node.operand, operand, scope)})"
    return Value(f"CAST({wide} AS {_NAMES[operand.type]})", operand.type, operand.bound, wide)


def computed(writer: Writer, node: n.Binary, scope: Scope) -> Value:
    left, right = writer.value(node.left, scope), writer.value(node.right, scope)
    moved = temporal.computed(writer, node, left, right)
    if moved is not None:
        return moved
    left, right = _wider(writer, node.left, left, right), _wider(writer, node.right, right, left)
    type = writer.typed_by(f"c0 {node.operator} c1", (left, right))
    writer.unchecked |= is_untold(node.left, left) or is_untold(node.right, right)
    if is_integer(left.type) and is_integer(right.type) and is_integer(type):
        return _integer(writer, node, left, right, type, scope)
    if is_decimal(type):
        return _decimal(writer, node, left, right, type)
    if is_float(type) and node.operator != "%":
        return _float(writer, node, left, right, type, scope)
    if is_float(type):
        left, right = _nearest(writer, node.left, left), _nearest(writer, node.right, right)
    return writer.composed_value(node, ((node.left, left), (node.right, right)), type)


def integer_quotient(writer: Writer, node: n.Binary, scope: Scope) -> Value:
    """a // b of integers, which truncates as a / b does. DuckDB does not truncate other numbers either."""
    values = []
    for child in (node.left, node.right):
        value = writer.value(child, scope)
        if not is_integer(value.type) and not (value.type is not None and pa.types.is_null(value.type)):
            raise writer.refuse("a // b is only supported for integers: write trunc(a / b), or cast to BIGINT first")
        values.append(value)
    left, right = _wider(writer, node.left, values[0], values[1]), _wider(writer, node.right, values[1], values[0])
    if is_decimal(left.type) or is_decimal(right.type):  # an unsigned integer of 64 bits
        raise writer.refuse("a // b of UBIGINT is not supported: cast to BIGINT first")
    type = writer.typed_by("c0 / c1", (left, right))
    return Value(f"{writer.text(node.left, left)} / {writer.text(node.right, right)}", type, left.bound)


def _nearest(writer: Writer, node: n.Node, value: Value) -> Value:
    """Casts a decimal of many digits to the nearest DOUBLE: with another last digit of the divisor, the remainder of a
    large number is another one altogether.
    """
    exact = exact_text(writer, node, value)
    return value if exact is value else Value(f"CAST({exact.text} AS DOUBLE)", DOUBLE)


def _float(writer: Writer, node: n.Binary, left: Value, right: Value, type: pa.DataType | None, scope: Scope) -> Value:
    """Replaces the NaN of Infinity - Infinity, which has a sign: DataFusion treats it as less than all numbers and
    different from NaN. A chain of operators is replaced once, at its end.
    """
    divisor = _divisor(writer, node, left, right) if node.operator == "/" else right
    pieces = list[tuple[n.Node, str | None]]()
    for child, value in ((node.left, left), (node.right, divisor)):
        inner = is_float(value.type) and not scope.is_grouped(writer.source[child.start : child.end])
        pieces.append((child, value.wide if inner and value.wide is not None else value.text))
    wide = writer.composed(node, pieces)
    keeps = node.operator in "+-"
    if _is_finite(node.left, zero=keeps) or _is_finite(node.right, zero=keeps):
        return Value(wide, type)
    return usual_nan(wide or writer.source[node.start : node.end], type)


def _is_finite(node: n.Node, *, zero: bool) -> bool:
    """Returns whether a number can't make a NaN of an infinity; `zero` is whether that holds for zero."""
    node = bare(node)
    if isinstance(node, n.Unary) and node.operator in "+-":
        node = node.operand
    return isinstance(node, n.Number) and (zero or float(node.text.replace("_", "")) != 0)


def is_untold(node: n.Node, value: Value) -> bool:
    """Returns whether the type of a value is unknown, except for functions of workers, whose types only the catalog
    knows.
    """
    return value.type is None and not any(isinstance(part, n.Call) for part in all_below(node))


def _divisor(writer: Writer, node: n.Binary, left: Value, value: Value) -> Value:
    """Returns a checked divisor: DataFusion returns an infinity where PostgreSQL reports a division by zero."""
    if isinstance(node.right, n.Number) and float(node.right.text.replace("_", "")) != 0:
        return value
    dividend = writer.text(node.left, left)
    if not (is_repeatable(node.left) and len(dividend) <= _LONGEST):
        dividend = "CAST(0 AS DOUBLE)"
    text = f'"{NONZERO}"({writer.text(node.right, value)}, {dividend})'
    return Value(f"CAST({text} AS REAL)" if value.type == pa.float32() else text, value.type)


def _wider(writer: Writer, node: n.Node, value: Value, other: Value) -> Value:
    """Casts a REAL combined with an exact number to DOUBLE, as in PostgreSQL, and unsigned integers, which files
    may have, to wider signed types.
    """
    if value.type is not None and pa.types.is_unsigned_integer(value.type):
        type = pa.decimal128(20, 0) if value.type == pa.uint64() else INT64
        return Value(f"CAST({writer.text(node, value)} AS {sql_name(type)})", type, value.bound)
    if value.type != pa.float32() or not (is_integer(other.type) or is_decimal(other.type)):
        return value
    return Value(f"CAST({writer.text(node, value)} AS DOUBLE)", DOUBLE)


def _bound(operator: str, left: Value, right: Value) -> int | None:
    """Returns the maximum magnitude of the result."""
    if left.bound is None or right.bound is None:
        return None
    match operator:
        case "+" | "-":
            return left.bound + right.bound
        case "*":
            return left.bound * right.bound
        case "%":
            return min(left.bound, right.bound)
    return left.bound


def _integer(
    writer: Writer, node: n.Binary, left: Value, right: Value, type: pa.DataType | None, scope: Scope
) -> Value:
    """Computes a result that may overflow as a DECIMAL, and casts it back, which reports an overflow."""
    bound = _bound(node.operator, left, right)
    plain = writer.composed_value(node, ((node.left, left), (node.right, right)), type)
    if type not in _MOST or node.operator in "/%":
        return Value(plain.text, type, bound)
    if bound is not None and bound < _MOST[type]:
        return Value(plain.text, type, bound)
    writer.checks = True
    if type != INT64:  # a result of two 32-bit integers always fits into 64 bits
        texts = [f"CAST({writer.text(c, v)} AS BIGINT)" for c, v in ((node.left, left), (node.right, right))]
        return Value(f"CAST({texts[0]} {node.operator} {texts[1]} AS {_NAMES[type]})", type, _MOST[type])
    one, other = _wide(writer, node.left, left, scope), _wide(writer, node.right, right, scope)
    if node.operator == "*" or one.startswith("(- "):
        one = f"({one})"
    wide = f"{one} {node.operator} ({other})"
    return Value(f"CAST({wide} AS BIGINT)", type, _MOST[INT64], wide)


def _wide(writer: Writer, node: n.Node, value: Value, scope: Scope) -> str:
    """Returns an integer as a DECIMAL. Intermediate results are not cast back: each nested cast triples
    DataFusion's planning time. Expressions in GROUP BY stay as they are written there.
    """
    node = bare(node)
    if value.wide is not None and not scope.is_grouped(writer.source[node.start : node.end]):
        return value.wide
    return f"CAST({writer.text(node, value)} AS DECIMAL({MOST_DIGITS}, 0))"


def _decimal(writer: Writer, node: n.Binary, left: Value, right: Value, type: pa.DataType | None) -> Value:
    """Computes a result that may exceed 38 digits with 76 digits, and casts it back, which reports an overflow."""
    assert type is not None
    values = ((node.left, left), (node.right, right))
    if node.operator == "/":
        return _quotient(writer, node, left, right, type)
    bound = _bound(node.operator, left, right)
    plain = writer.composed_value(node, values, type)
    most = 10 ** (MOST_DIGITS - type.scale)
    if type.precision < MOST_DIGITS or node.operator == "%" or (bound is not None and bound <= most):
        return Value(plain.text, type, min(bound, most) if bound is not None else bound_of(type))
    if pa.types.is_decimal256(type):
        return plain
    writer.checks = True
    scales = [v.type.scale if is_decimal(v.type) and v.type is not None else 0 for _, v in values]
    texts = [
        v.wide
        if v.wide is not None and is_decimal(v.type)
        else f"arrow_cast({writer.text(c, v)}, 'Decimal256(76, {scale})')"
        for (c, v), scale in zip(values, scales, strict=True)
    ]
    wide = f"({texts[0]} {node.operator} {texts[1]})"
    return Value(f"arrow_cast({wide}, 'Decimal128({MOST_DIGITS}, {type.scale})')", type, most, wide)


_QUOTIENT_SCALE = 16


def _quotient(writer: Writer, node: n.Binary, left: Value, right: Value, type: pa.DataType) -> Value:
    """Rounds a quotient to 16 digits after the point, as far as 38 digits hold them. DataFusion has four digits
    more than the dividend: 1.0 / 3 would be 0.33333.
    """
    values = ((node.left, left), (node.right, right))
    plain = writer.composed_value(node, values, type)
    # By the type only: statistics in the metadata must not change the type of a result.
    bound = left.bound if isinstance(node.left, n.Number) else bound_of(left.type)
    if bound is None or pa.types.is_decimal256(type):
        return Value(plain.text, type, bound_of(type))
    whole = len(str(bound))
    divisor = right.type.scale if is_decimal(right.type) and right.type is not None else 0
    # No divisor is smaller than one unit of its last digit.
    most = (bound if left.bound is None else min(bound, left.bound)) * 10 ** max(divisor, 0)
    scale = min(_QUOTIENT_SCALE, MOST_DIGITS - whole - divisor - 1)
    own = left.type.scale if is_decimal(left.type) and left.type is not None else 0
    if scale - 3 <= own:
        if not is_decimal(left.type) or whole + own + divisor + 4 <= MOST_DIGITS:
            return Value(plain.text, type, _least(bound_of(type), most))
        # DataFusion multiplies the dividend by a power of ten first, for which 38 digits may be too few.
        writer.checks = True
        if left.bound is not None and len(str(left.bound)) + own + divisor + 4 <= MOST_DIGITS:
            return Value(plain.text, type, _least(bound_of(type), most))
        dividend = f"arrow_cast({writer.text(node.left, left)}, 'Decimal256(76, {own})')"
        by = f"arrow_cast({writer.text(node.right, right)}, 'Decimal256(76, {divisor})')"
        text = f"arrow_cast({dividend} / {by}, 'Decimal128({MOST_DIGITS}, {type.scale})')"
        return Value(text, type, _least(bound_of(type), most))
    typed = pa.decimal128(whole + divisor + scale, scale)
    is_exact = own <= scale - 4 and own + _digits_added(node.right) <= scale
    inner = scale - (4 if is_exact else 3)  # the quotient has four digits more; one of them is for rounding
    dividend = f"CAST({writer.text(node.left, left)} AS DECIMAL({whole + inner}, {inner}))"
    quotient = writer.composed(node, ((node.left, dividend), (node.right, right.text)))
    assert quotient is not None
    text = f"({quotient})" if is_exact else f"CAST({quotient} AS {sql_name(typed)})"
    return Value(text, typed, _least(bound_of(typed), most))


def _least(one: int | None, other: int) -> int:
    return other if one is None else min(one, other)


def _digits_added(divisor: n.Node) -> int:
    """Returns the digits after the point that a quotient has beyond those of its dividend: 1 for x / 2, 2 for x / 100.
    More than any quotient may have, unless the divisor is a constant that has no prime factors but 2 and 5.
    """
    divisor = bare(divisor)
    text = divisor.text.replace("_", "") if isinstance(divisor, n.Number) else ""
    whole, _, fraction = text.partition(".")
    if not (whole + fraction).isdigit() or int(whole + fraction) == 0:
        return MOST_DIGITS
    rest, twos, fives = int(whole + fraction), 0, 0
    while rest % 2 == 0:
        rest, twos = rest // 2, twos + 1
    while rest % 5 == 0:
        rest, fives = rest // 5, fives + 1
    return max(twos, fives) - len(fraction) if rest == 1 else MOST_DIGITS
