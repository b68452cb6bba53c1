"""Rewrites calls of functions for which DataFusion 55 has a wrong type, or no check."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from pinakes.core.errors import NotSupportedError
from pinakes.parser.functions.catalog import TYPED
from pinakes.parser.typed import NANOSECONDS, bounds, json, lambdas
from pinakes.parser.typed import nodes as n
from pinakes.parser.typed.arithmetic import is_untold
from pinakes.parser.typed.casts import binary, in_micros, rounded
from pinakes.parser.typed.coercion import joined_type, sql_name, unified
from pinakes.parser.typed.comparison import aligned
from pinakes.parser.typed.texts import read_as, written
from pinakes.parser.typed.values import (
    DOUBLE,
    INT64,
    INTERVAL,
    MICROS,
    MOST_DIGITS,
    MOST_ROWS,
    TIME,
    Value,
    bound_of,
    is_date,
    is_decimal,
    is_duration,
    is_float,
    is_integer,
    is_nested,
    is_struct,
    is_time,
    is_timestamp,
    usual_nan,
)
from pinakes.parser.typed.writer import check_order, with_one_zero, zero
from pinakes.parser.workarounds.constant_filters import AGGREGATES
from pinakes.parser.workarounds.maps import map_of_lists, values_of_key
from pinakes.parser.workarounds.moving_frames import moving
from pinakes.parser.workarounds.percentiles import percentile
from pinakes.parser.workarounds.regr_r2 import regr_r2
from pinakes.parser.workarounds.writing import all_below, is_repeatable

if TYPE_CHECKING:
    from pinakes.parser.typed.writer import Scope, Writer

_COMBINING = frozenset("coalesce ifnull nvl greatest least nullif".split())
_ORDERING = frozenset("min max median array_sort list_sort rank dense_rank mode".split())
_PARTS = frozenset({"date_part", "datepart"})
_SECONDS = {
    "second": ("0.000001", 6),
    "seconds": ("0.000001", 6),
    "millisecond": ("0.001", 3),
    "milliseconds": ("0.001", 3),
}
"""Parts with a fraction: the value of one microsecond, and the digits after the point."""
_OF_INTERVALS = {**_SECONDS, "microsecond": ("1", 0), "microseconds": ("1", 0)}
"""The same for intervals, for which DataFusion returns only full seconds."""
_OF_TEXTS = {
    **dict.fromkeys("left right lpad rpad translate levenshtein string_agg".split(), "write CAST(… AS VARCHAR)"),
    **dict.fromkeys("regexp_replace string_to_array".split(), "write CAST(… AS VARCHAR)"),
    **dict.fromkeys("length char_length character_length".split(), "write cardinality(…) for the number of elements"),
    "repeat": "write flatten(array_repeat(…)) to repeat a list",
    "replace": "write array_replace_all(…) for the elements of a list",
    "reverse": "write array_reverse(…) for a list",
}
"""Functions to which DataFusion passes the text of a list or struct, and the alternative to suggest."""
_COUNTS = frozenset(
    "count count_star approx_distinct row_number rank dense_rank ntile length char_length character_length "
    "octet_length bit_length strpos position instr cardinality array_length list_length array_position list_position "
    "array_indexof list_indexof array_ndims list_ndims ascii levenshtein regexp_count grouping".split()
)
"""Functions that return counts, which are far below the limits of BIGINT."""


_STATISTICS = frozenset(
    "avg mean median stddev stddev_samp stddev_pop var var_samp var_sample var_pop var_population covar covar_samp "
    "covar_pop corr regr_slope regr_intercept regr_avgx regr_avgy regr_sxx regr_syy regr_sxy".split()
)
"""Functions that may return NaN for infinities."""
_ALL_OF_A_LIST = {
    "array_remove": "array_remove_all",
    "list_remove": "array_remove_all",
    "array_replace": "array_replace_all",
    "list_replace": "array_replace_all",
}
"""Functions that stop at the first element in DataFusion, but not in PostgreSQL."""
_LONGEST = 300
"""Maximum characters of an operand that is duplicated in the text: nested ones would grow exponentially."""
_WORKAROUNDS = {
    **TYPED,
    "element_at": values_of_key,
    "map": map_of_lists,
    "map_extract": values_of_key,
    "percentile_cont": percentile,
    "quantile_cont": percentile,
    "regr_r2": regr_r2,
}


def call(writer: Writer, node: n.Call, scope: Scope) -> Value:
    if any(isinstance(a, n.Lambda) for a in node.arguments):
        return lambdas.call(writer, node, scope)
    if node.name == "columns" and writer.has_columns:
        if writer.columns_as is None:
            raise writer.refuse("COLUMNS(…) is only supported in the SELECT list: name the columns")
        return writer.columns_as
    arguments = [(a, writer.value(a, scope)) for a in node.arguments]
    others = [(o, writer.value(o, scope)) for o in node.others]
    for _, value in others:
        check_order(value.type)
    if node.name in AGGREGATES and not node.over and scope.parent is not None:
        _refuse_outer(writer, node, scope)
    if node.name == "nullif" and len(arguments) == 2:
        first, second = (value.type for _, value in arguments)
        repeated = is_repeatable(node.arguments[0]) and len(writer.text(*arguments[0])) < _LONGEST
        if (first != second or is_float(first)) and repeated:  # DataFusion distinguishes -0.0 and 0.0
            return _nullif(writer, arguments)
    if (written_as_json := json.call(writer, node, arguments, scope)) is not None:
        return written_as_json
    workaround = _WORKAROUNDS.get(node.name)
    found = moving(writer, node, arguments, others)
    if found is None and workaround is not None and not node.named:
        found = workaround(writer, node, arguments, others)
    if found is not None:
        return found
    if node.name in ("concat", "concat_ws"):
        if any(is_nested(v.type) or isinstance(a, n.Array) for a, v in arguments):
            raise writer.refuse(
                f"{node.name} is for texts: write array_concat(…) for lists, array_to_string(…) for a text"
            )
        arguments = [(child, written(writer, child, value)) for child, value in arguments]
        arguments = bounds.put_together(writer, arguments)
    if node.name in _OF_TEXTS and any(is_nested(v.type) or isinstance(a, n.Array | n.Struct) for a, v in arguments):
        raise writer.refuse(f"{node.name} is for texts: {_OF_TEXTS[node.name]}")
    if node.name in ("ifnull", "nvl") and len(arguments) == 2:  # for NULL and a timestamp they would return a text
        arguments = _combined(writer, node, arguments)
        texts = ", ".join(writer.text(argument, value) for argument, value in arguments)
        type = _type(writer, node, arguments)
        return Value(f"coalesce({texts})", type, _bound_of_call(node, arguments, type))
    if node.name == "round" and len(arguments) == 2 and is_decimal(arguments[0][1].type):
        found = _rounded_decimal(writer, node, arguments)
        if found is not None:
            return found
    if node.name == "round" and len(arguments) == 2 and is_float(arguments[0][1].type):
        found = _rounded_double(writer, arguments)
        if found is not None:
            return found
    if node.name in _COMBINING:
        arguments = _combined(writer, node, arguments)
    elif node.name in _ORDERING and any(v.type == INTERVAL for _, v in arguments):
        raise NotSupportedError(f"{node.name} of intervals is not supported: write it for date_part('epoch', …)")
    elif node.name in ("first_value", "last_value") and len(arguments) > 1:  # DataFusion would ignore the second one
        raise NotSupportedError(f"{node.name} takes one argument: write {node.name}(x) IGNORE NULLS OVER (…)")
    elif node.name in ("min", "max") and any(is_struct(v.type) or isinstance(a, n.Struct) for a, v in arguments):
        raise NotSupportedError(f"{node.name} of structs is not supported, since it would lose NULLs: name a field")
    elif node.name in ("min", "max") and scope.in_groups and len(arguments) == 1 and is_float(arguments[0][1].type):
        return _extreme(writer, node, arguments[0], others)
    elif node.name == "sum" and len(arguments) == 1:
        return _sum(writer, node, arguments[0], others)
    elif node.name in ("arrow_cast", "arrow_try_cast") and len(arguments) == 2:
        bounds.check_target(node, arguments)
        arguments = _converted(writer, arguments)
    elif node.name == "date_trunc" and len(arguments) == 2:
        found = _truncated(writer, node, arguments)
        if found is not None:
            return found
    elif (
        node.name in _PARTS
        and len(arguments) == 2
        and _word(arguments[0][0]) in _SECONDS
        and _has_fraction(arguments[1][1])
    ):
        return _seconds(_word(arguments[0][0]), writer.text(*arguments[1]))
    elif node.name in _PARTS and len(arguments) == 2 and _is_epoch_of_interval(arguments):
        return _epoch(writer.text(*arguments[1]))
    elif (
        node.name in _PARTS
        and len(arguments) == 2
        and _word(arguments[0][0]) in _OF_INTERVALS
        and arguments[1][1].type == INTERVAL
    ):
        return _seconds_of_interval(_word(arguments[0][0]), writer.text(*arguments[1]))
    elif node.name in _PARTS and len(arguments) == 2 and is_duration(arguments[1][1].type):
        part = arguments[0][0]
        found = _part_of_duration(
            writer, part.value if isinstance(part, n.Text) else "", writer.text(*arguments[1]), arguments[1][1]
        )
        if found is not None:
            return found
    elif node.name in ("sign", "signum") and len(arguments) == 1 and is_float(arguments[0][1].type):
        (operand, value), name = arguments[0], "REAL" if arguments[0][1].type == pa.float32() else "DOUBLE"
        return Value(f"signum(nanvl({writer.text(operand, value)}, CAST('0' AS {name})))", value.type)  # 0 for NaN
    elif node.name == "to_hex" and len(arguments) == 1 and arguments[0][1].type == pa.int32():
        digits = writer.text(node, Value(writer.composed(node, [(a, v.text) for a, v in arguments])))
        return Value(f"right({digits}, 8)", pa.string())  # DataFusion treats every integer as 64 bits
    elif node.name in ("array_length", "list_length") and len(arguments) == 2 and not node.named:
        length = writer.text(node, Value(writer.composed(node, [(a, v.text) for a, v in arguments])))
        return Value(f"CAST(nullif({length}, 0) AS BIGINT)", INT64, MOST_ROWS)  # an empty list has no dimension
    elif node.name in _ALL_OF_A_LIST and not node.named:
        if _ALL_OF_A_LIST[node.name] == "array_remove_all" and isinstance(arguments[-1][0], n.Null):
            raise writer.refuse(f"{node.name} of NULL is not supported: unnest the list, and filter with IS NOT NULL")
        checked = bounds.bounded(writer, node, arguments)
        texts = ", ".join(writer.text(a, v) for a, v in (checked if isinstance(checked, list) else arguments))
        type = arguments[0][1].type if arguments else None
        return Value(f"{_ALL_OF_A_LIST[node.name]}({texts})", type)
    type = _type(writer, node, arguments)
    checked = bounds.bounded(writer, node, arguments)
    if isinstance(checked, Value):
        return checked
    arguments = arguments if checked is None else checked
    others = [(o, with_one_zero(writer, o, v)) for o, v in others]
    if node.distinct:
        arguments = [(a, with_one_zero(writer, a, v)) for a, v in arguments]
    if type == pa.uint64() and (node.over or node.name in _COUNTS):  # combined with a BIGINT it would be DECIMAL
        text = writer.composed(node, [(a, v.text) for a, v in (*arguments, *others)])
        return Value(f"CAST({writer.text(node, Value(text))} AS BIGINT)", INT64, MOST_ROWS)
    text = writer.composed(node, [(a, v.text) for a, v in (*arguments, *others)])
    if node.name == "signum" and is_float(type):  # for NaN it is 0 in PostgreSQL, and NaN in DataFusion
        return Value(f"nanvl({text or writer.source[node.start : node.end]}, {zero(type)})", type)
    if node.name in _STATISTICS and is_float(type) and not _is_mean_of_integers(node, arguments):
        return usual_nan(text or writer.source[node.start : node.end], type)
    if node.name in bounds.COLLECTING or node.name in bounds.UNCOUNTED:
        text = bounds.with_width(writer, text or writer.source[node.start : node.end], type)
    bound = _bound_of_call(node, arguments, type)
    return _in_micros(writer, node, arguments, Value(text, type, bound))


def _refuse_outer(writer: Writer, node: n.Call, scope: Scope) -> None:
    """Refuses an aggregate over outer columns only: SQL computes it in the outer query, DataFusion in the subquery."""
    columns = [part for a in node.arguments for part in all_below(a) if isinstance(part, n.Column)]
    if columns and all(scope.is_outer(column.parts) for column in columns):
        raise writer.refuse(
            f"{node.name} in a subquery of columns of the outer query alone is not supported: compute it in a query of "
            "its own, and join that"
        )


_EXACT = 2**53
"""From this value on a DOUBLE has no digits after the point."""


def _rounded_decimal(writer: Writer, node: n.Call, arguments: list[tuple[n.Node, Value]]) -> Value | None:
    """Fixes the scale of round(x, 1), which DataFusion plans and computes with different scales: a comparison would
    fail.
    """
    (operand, value), (digits, _) = arguments
    if not isinstance(digits, n.Number) or not digits.text.isdigit() or value.type is None:
        return None
    type = pa.decimal128(min(value.type.precision, MOST_DIGITS), min(int(digits.text), value.type.scale))
    text = writer.composed(node, ((operand, value.text),)) or writer.source[node.start : node.end]
    return Value(f"CAST({text} AS {sql_name(type)})", type, value.bound)


def _rounded_double(writer: Writer, arguments: list[tuple[n.Node, Value]]) -> Value | None:
    """Fixes round(x, 1000), which would be NaN, since 10 to that power is infinite; None if no change is needed."""
    (operand, value), (place, digits) = arguments
    if isinstance(place, n.Number) and place.text.isdigit() and int(place.text) <= 15:
        return None
    text, number = writer.text(operand, value), writer.text(place, digits)
    within = f"greatest(least({number}, 308), -308)"
    rounded = f"round({text}, {within})"
    fits = f"abs({text}) < CAST('{_EXACT}' AS DOUBLE) / power(CAST('10' AS DOUBLE), {within})"
    no_digits = "" if isinstance(place, n.Number) else f"WHEN {number} IS NULL THEN NULL "
    return Value(f"(CASE {no_digits}WHEN {fits} THEN {rounded} ELSE {text} END)", value.type)


def extract(writer: Writer, node: n.Extract, scope: Scope) -> Value:
    operand = writer.value(node.operand, scope)
    if node.part.lower() in _SECONDS and _has_fraction(operand):
        return _seconds(node.part.lower(), writer.text(node.operand, operand))
    if node.part.lower() == "epoch" and operand.type == INTERVAL:
        return _epoch(writer.text(node.operand, operand))
    if node.part.lower() in _OF_INTERVALS and operand.type == INTERVAL:
        return _seconds_of_interval(node.part.lower(), writer.text(node.operand, operand))
    found = _part_of_duration(writer, node.part, writer.text(node.operand, operand), operand)
    if found is not None:
        return found
    type = writer.typed_by(f"date_part('{node.part}', c0)", (operand,)) if node.part.isidentifier() else None
    return Value(writer.composed(node, ((node.operand, operand.text),)), type, 2**31)


def _word(node: n.Node) -> str:
    return node.value.lower() if isinstance(node, n.Text) else ""


def _is_epoch_of_interval(arguments: list[tuple[n.Node, Value]]) -> bool:
    part = arguments[0][0]
    return isinstance(part, n.Text) and part.value.lower() == "epoch" and arguments[1][1].type == INTERVAL


def _epoch(text: str) -> Value:
    """Returns the seconds of an interval. A year has 365.25 days in PostgreSQL, and twelve months of 30 days in
    DataFusion.
    """
    return Value(f"(date_part('epoch', {text}) + date_part('year', {text}) * CAST('453600' AS DOUBLE))", DOUBLE)


def _part_of_duration(writer: Writer, part: str, text: str, value: Value) -> Value | None:
    """Returns a part of a duration, such as the difference of two timestamps: days, and the remainder of a day, as
    in PostgreSQL. In DataFusion 30 days are also 720 hours.
    """
    if not is_duration(value.type):
        return None
    assert value.type is not None
    micros = f"arrow_cast(arrow_cast({text}, 'Duration(Microsecond)'), 'Int64')"
    part = part.lower().removesuffix("s")
    if part == "epoch":
        return Value(f"(CAST({micros} AS DOUBLE) / CAST('1e6' AS DOUBLE))", DOUBLE)
    if part == "second":
        fraction = f"CAST({micros} % 60000000 AS DECIMAL(8, 0))"
        return Value(f"CAST({fraction} * 0.000001 AS DECIMAL(8, 6))", pa.decimal128(8, 6), 60)
    if part not in _PART_LENGTHS:
        raise writer.refuse(f"{part} of the difference of two timestamps is not supported: use day, hour, … or epoch")
    around, length = _PART_LENGTHS[part]
    return Value(f"({micros}{around} / {length})", INT64, 2**31)


_PART_LENGTHS = {
    "day": ("", 86_400_000_000),
    "hour": (" % 86400000000", 3_600_000_000),
    "minute": (" % 3600000000", 60_000_000),
}
"""For parts of a duration: the modulus of the next longer part, and the microseconds of one unit."""


def _has_fraction(value: Value) -> bool:
    return is_timestamp(value.type) or is_time(value.type)


def _seconds(part: str, text: str) -> Value:
    """Returns seconds or milliseconds with their fraction, which DataFusion truncates."""
    one, digits = _SECONDS[part]
    micros = f"CAST(date_part('microsecond', {text}) AS DECIMAL(8, 0))"
    return Value(f"CAST({micros} * {one} AS DECIMAL(8, {digits}))", pa.decimal128(8, digits), 10 ** (8 - digits))


def _seconds_of_interval(part: str, text: str) -> Value:
    """Returns the seconds of an interval modulo one minute, to which days and months add nothing."""
    one, digits = _OF_INTERVALS[part]
    nanoseconds = f'CAST("{NANOSECONDS}"({text}) % 60000000000 AS BIGINT)'
    fraction = f"CAST({nanoseconds} / 1000 AS DECIMAL(8, 0))"
    return Value(f"CAST({fraction} * {one} AS DECIMAL(8, {digits}))", pa.decimal128(8, digits), 10 ** (8 - digits))


def _is_mean_of_integers(node: n.Call, arguments: list[tuple[n.Node, Value]]) -> bool:
    """Returns whether a call is avg() of integers, which is never NaN."""
    return node.name in ("avg", "mean") and len(arguments) == 1 and is_integer(arguments[0][1].type)


def _bound_of_call(node: n.Call, arguments: list[tuple[n.Node, Value]], type: pa.DataType | None) -> int | None:
    if node.name == "grouping":
        return 1 << len(arguments)  # a bit for each
    if node.name in _COUNTS:
        return MOST_ROWS
    if node.name in ("min", "max", "abs", "any_value", "first_value", "last_value", "lag", "lead") and arguments:
        return arguments[0][1].bound
    if node.name in _COMBINING and all(v.bound is not None for _, v in arguments):
        return max((v.bound or 0 for _, v in arguments), default=None)
    return bound_of(type)


def _combined(writer: Writer, node: n.Call, arguments: list[tuple[n.Node, Value]]) -> list[tuple[n.Node, Value]]:
    if node.name in ("greatest", "least", "nullif") and any(v.type == INTERVAL for _, v in arguments):
        raise NotSupportedError(f"{node.name} of intervals is not supported: write it for date_part('epoch', …)")
    return unified(writer, arguments)


_READ_AS = {"Timestamp(Microsecond, None)": "TIMESTAMP", "Date32": "DATE", "Time64(Microsecond)": "TIME"}


def _converted(writer: Writer, arguments: list[tuple[n.Node, Value]]) -> list[tuple[n.Node, Value]]:
    """Converts the operand of arrow_cast(x, 'Int32'), which casts values to the types of a table."""
    (operand, value), (target, _) = arguments
    if isinstance(target, n.Text) and target.value in ("Int8", "Int16", "Int32", "Int64"):
        value = Value(rounded(writer, operand, value), value.type)
    if isinstance(target, n.Text) and target.value in _READ_AS:
        value = read_as(writer, operand, value, n.TypeName(0, 0, _READ_AS[target.value]))
    if isinstance(target, n.Text) and target.value.startswith("Timestamp(Microsecond"):
        value = in_micros(writer, operand, value)
    if isinstance(target, n.Text) and target.value in ("Binary", "LargeBinary", "BinaryView"):
        value = Value(binary(operand), value.type)
    if isinstance(target, n.Text) and target.value == "Utf8":
        value = written(writer, operand, value)
    return [(operand, value), arguments[1]]


def _nullif(writer: Writer, arguments: list[tuple[n.Node, Value]]) -> Value:
    """Returns nullif with the type of the first argument, regardless of the type of the comparison."""
    one, other = (writer.text(node, value) for node, value in aligned(writer, arguments))
    node, value = arguments[0]
    text = f"(CASE WHEN {one} = {other} THEN NULL ELSE {writer.text(node, value)} END)"
    return Value(text, value.type, value.bound)


def _type(writer: Writer, node: n.Call, arguments: list[tuple[n.Node, Value]]) -> pa.DataType | None:
    if node.name == "count":
        return INT64
    if node.name == "unnest" and len(arguments) == 1:
        kind = arguments[0][1].type
        return (
            kind.value_type if kind is not None and (pa.types.is_list(kind) or pa.types.is_large_list(kind)) else None
        )
    if node.named and node.name in ("substring", "overlay", "trim"):
        return pa.string()
    if node.named or any(isinstance(a, n.Star) for a, _ in arguments):
        return None
    if node.name in _COMBINING and node.name != "nullif":
        return joined_type(writer.environment, [v.type for _, v in arguments])
    written, types = list[str](), list[pa.DataType]()
    for argument, value in arguments:
        if value.type is None:
            return None
        if isinstance(argument, n.Text | n.Number | n.TypedText | n.Boolean | n.Null | n.Interval):
            written.append(writer.text(argument, value))
        else:
            written.append(f"c{len(types)}")
            types.append(value.type)
    over = " OVER ()" if node.over else ""
    return writer.environment.result(f"{node.name}({', '.join(written)}){over}", types)


def _in_micros(writer: Writer, node: n.Call, arguments: list[tuple[n.Node, Value]], value: Value) -> Value:
    """Casts the nanoseconds of now() and other functions to microseconds, unless an argument has nanoseconds."""
    if not (is_timestamp(value.type) or is_time(value.type)) or value.type is None or value.type.unit != "ns":
        return value
    if any(
        v.type is not None and (is_timestamp(v.type) or is_time(v.type)) and v.type.unit == "ns" for _, v in arguments
    ):
        return value
    if node.name in ("to_timestamp_nanos", "arrow_cast", "arrow_try_cast") or node.over:
        return value
    text = writer.text(node, value)
    if is_time(value.type):
        return Value(f"arrow_cast({text}, 'Time64(Microsecond)')", TIME)
    zoned = value.type.tz is not None
    return Value(f"CAST({text} AS TIMESTAMP(6){' WITH TIME ZONE' if zoned else ''})", pa.timestamp("us", value.type.tz))


_NEAR = ("1678-01-01", "2262-01-01")
_MICROS = {
    "hour": 3_600_000_000,
    "minute": 60_000_000,
    "second": 1_000_000,
    "millisecond": 1000,
    "microsecond": 1,
}


def _truncated(writer: Writer, node: n.Call, arguments: list[tuple[n.Node, Value]]) -> Value | None:
    """Rewrites date_trunc, which converts to nanoseconds and fails for years before 1678 and after 2262: there it
    is computed from the parts of the date. `engine/iceberg/scan/monotonic_functions.py` recognises this form.
    """
    (part, part_value), (moment, value) = arguments
    text = writer.text(moment, value)
    if len(text) > _LONGEST or not is_repeatable(moment):
        return None
    if is_date(value.type):
        text, value = f"CAST({text} AS TIMESTAMP(6))", Value(None, MICROS)
    if not is_timestamp(value.type) or value.type is None or value.type.unit == "ns" or not isinstance(part, n.Text):
        return None
    zoned = " WITH TIME ZONE" if value.type.tz is not None else ""
    local = f"CAST({text} AS TIMESTAMP(6))" if zoned else text
    far = _far(part.value.lower(), local)
    near = f"date_trunc({writer.text(part, part_value)}, {text})"
    if far is None:
        return Value(near, value.type)
    low, high = (f"CAST('{day}' AS TIMESTAMP(6){zoned})" for day in _NEAR)
    if zoned:
        far = f"CAST({far} AS TIMESTAMP(6){zoned})"
    return Value(f"(CASE WHEN {text} BETWEEN {low} AND {high} THEN {near} ELSE {far} END)", value.type)


def _far(unit: str, text: str) -> str | None:
    """Returns date_trunc without nanoseconds, for a timestamp without a time zone."""
    if unit in _MICROS:
        number, size = f"arrow_cast({text}, 'Int64')", _MICROS[unit]
        return f"arrow_cast({number} - (({number} % {size}) + {size}) % {size}, 'Timestamp(Microsecond, None)')"
    year, month, day = f"date_part('year', {text})", f"date_part('month', {text})", f"CAST({text} AS DATE)"
    dates = {
        "day": day,
        "week": f"{day} - (CAST(date_part('isodow', {text}) AS INT) - 1)",
        "month": f"make_date({year}, {month}, 1)",
        "quarter": f"make_date({year}, ({month} - 1) / 3 * 3 + 1, 1)",
        "year": f"make_date({year}, 1, 1)",
    }
    return f"CAST({dates[unit]} AS TIMESTAMP(6))" if unit in dates else None


def _extreme(writer: Writer, node: n.Call, argument: tuple[n.Node, Value], others: list[tuple[n.Node, Value]]) -> Value:
    """Fixes min and max of doubles in groups: in DataFusion the result depends on which row has NaN, and starts from
    the largest finite number, which it returns for infinities. DISTINCT and ORDER BY have no effect on them.
    """
    operand, value = argument
    if node.over:
        plain = writer.composed(node, [(child, v.text) for child, v in (argument, *others)])
        return Value(plain, value.type)
    x, filtered, at = writer.text(operand, value), "", node.arguments_end
    for other, found in others:
        if other.start >= at:  # FILTER
            filtered += writer.source[at : other.start] + writer.text(other, found)
            at = other.end
    filtered += writer.source[at : node.end]
    nan, least, most = (f"CAST('{word}' AS DOUBLE)" for word in ("NaN", "-Infinity", "Infinity"))
    is_nan, is_least, is_most = f"isnan({x})", f"{x} = {least}", f"{x} = {most}"
    if node.name == "max":
        arms = ((f"bool_or({is_nan})", nan), (f"bool_or({is_most})", most), (f"bool_and({is_least})", least))
        plain = f"max({x}){filtered}"
    else:
        arms = (
            (f"bool_or({is_least})", least),
            (f"bool_and({is_nan})", nan),
            (f"bool_and({is_nan} OR {is_most})", most),
        )
        plain = f"min(CASE WHEN {is_nan} THEN NULL ELSE {x} END){filtered}"
    cases = " ".join(f"WHEN {test}{filtered} THEN {result}" for test, result in arms)
    text = f"(CASE {cases} ELSE {plain} END)"
    return Value(f"CAST({text} AS REAL)" if value.type == pa.float32() else text, value.type)


def _sum(writer: Writer, node: n.Call, argument: tuple[n.Node, Value], others: list[tuple[n.Node, Value]]) -> Value:
    """Computes a sum that may overflow with more digits, and casts it back, which reports an overflow."""
    operand, value = argument
    type = writer.typed_by("sum(c0)", (value,))
    writer.unchecked |= is_untold(operand, value)
    plain = Value(writer.composed(node, [(c, v.text) for c, v in (argument, *others)]), type, bound_of(type))
    if is_float(type):
        return usual_nan(plain.text or writer.source[node.start : node.end], type)
    bound = value.bound if value.bound is not None else bound_of(value.type)
    most = None if bound is None else bound * MOST_ROWS
    if is_integer(type) and is_integer(value.type) and most is not None:
        if most < 2**63:
            return Value(plain.text, type, most)
        inner, target = f"CAST({writer.text(operand, value)} AS DECIMAL(20, 0))", "BIGINT"
    elif is_decimal(type) and type is not None and most is not None:
        widest = pa.decimal128(MOST_DIGITS, type.scale)
        limit = 10 ** (MOST_DIGITS - type.scale)
        if most <= limit:
            # Statistics in the metadata must not change the type of a result.
            if (bound_of(value.type) or 0) * MOST_ROWS <= limit or type.precision >= MOST_DIGITS:
                return Value(plain.text, type, min(most, plain.bound or most))
            return Value(f"CAST({writer.text(node, plain)} AS {sql_name(widest)})", widest, most)
        inner = f"arrow_cast({writer.text(operand, value)}, 'Decimal256({MOST_DIGITS}, {type.scale})')"
        type, target = widest, sql_name(widest)
    else:
        return plain
    writer.checks = True
    text = writer.composed(node, [(operand, inner), *((o, v.text) for o, v in others)])
    return Value(f"CAST({text} AS {target})", type, bound_of(type))
