"""Functions of dates, times and timestamps."""

from __future__ import annotations

import re

import pyarrow as pa

from pinakes.core.errors import InvalidArgument, NotSupportedError
from pinakes.core.names import text_literal
from pinakes.parser.functions import AGE, FULL_MONTHS
from pinakes.parser.functions.formats import completed, of_postgresql, of_strftime, of_strptime
from pinakes.parser.functions.lists import unknown
from pinakes.parser.functions.rule import Arguments, Rule, check_plain, constant, template
from pinakes.parser.typed import nodes as n
from pinakes.parser.typed.temporal import of_number
from pinakes.parser.typed.values import (
    DATE,
    INT64,
    INTERVAL,
    MICROS,
    Value,
    is_date,
    is_float,
    is_integer,
    is_text,
    is_time,
    is_timestamp,
)
from pinakes.parser.typed.writer import Writer
from pinakes.parser.workarounds.writing import Changes, is_repeatable, operand

_LONGEST = 300
_MOST_OF_FORMAT = 1_000


# --- parts -------------------------------------------------------------------------------------------------------

_PARTS = {
    "year": ("year", "year", "2024"),
    "month": ("month", "month", "3"),
    "day": ("day", "day of the month", "5"),
    "dayofmonth": ("day", "day of the month", "5"),
    "day_of_month": ("day", "day of the month", "5"),
    "hour": ("hour", "hour", "10"),
    "minute": ("minute", "minute", "20"),
    "quarter": ("quarter", "quarter", "1"),
    "week": ("week", "ISO week", "10"),
    "weekofyear": ("week", "ISO week", "10"),
    "week_of_year": ("week", "ISO week", "10"),
    "dayofyear": ("doy", "day of the year", "65"),
    "day_of_year": ("doy", "day of the year", "65"),
    "doy": ("doy", "day of the year", "65"),
    "dayofweek": ("dow", "day of the week, from 0 (Sunday) to 6", "2"),
    "weekday": ("dow", "day of the week, from 0 (Sunday) to 6", "2"),
    "isodow": ("isodow", "day of the week, from 1 (Monday) to 7 (Sunday)", "2"),
    "day_of_week": ("isodow", "day of the week, from 1 (Monday) to 7 (Sunday)", "2"),
    "dow": ("isodow", "day of the week, from 1 (Monday) to 7 (Sunday)", "2"),
}
_MOMENT = "TIMESTAMP '2024-03-05 10:20:30.5'"


def _part(name: str) -> Rule:
    part, what, _ = _PARTS[name]
    return Rule(
        f"{name}(x)",
        "date or timestamp",
        "integer",
        f"The {what}.",
        f"SELECT {name}({_MOMENT})",
        template(f"date_part('{part}', {{0}})"),
    )


def _full(name: str, part: str, what: str) -> Rule:
    return Rule(
        f"{name}(x)",
        "timestamp or time",
        "bigint",
        f"The {what}, without a fraction.",
        f"SELECT {name}({_MOMENT})",
        template(f"CAST(floor(date_part('{part}', {{0}})) AS BIGINT)"),
    )


# --- differences and sums ----------------------------------------------------------------------------------------

_SIZES = {
    "hour": 3_600_000_000,
    "minute": 60_000_000,
    "second": 1_000_000,
    "millisecond": 1_000,
    "microsecond": 1,
}
_UNITS = {
    **{word: unit for unit in (*_SIZES, "day", "week", "month", "quarter", "year") for word in (unit, f"{unit}s")},
    "dayofmonth": "day",
    "d": "day",
    "h": "hour",
    "m": "minute",
    "s": "second",
    "ms": "millisecond",
    "us": "microsecond",
    "min": "minute",
    "mins": "minute",
    "sec": "second",
    "secs": "second",
    "mon": "month",
    "y": "year",
    "yr": "year",
    "w": "week",
    "hr": "hour",
    "mm": "month",
    "yyyy": "year",
    "hrs": "hour",
}


def _unit(writer: Writer, node: n.Call, argument: n.Node) -> str:
    name = constant(writer, node, argument, "a unit").lower()
    if name not in _UNITS:
        raise InvalidArgument(
            f"{node.name} does not know the unit {name!r}: use year, month, day, hour, minute, second"
        )
    return _UNITS[name]


def _moments(
    writer: Writer, node: n.Call, arguments: Arguments, *, repeated: bool = True, instants: bool = False
) -> list[str]:
    """Returns dates and times as timestamps of the session's time zone, in microseconds; `instants`: of UTC."""
    found = list[str]()
    for child, value in arguments:
        text, type = writer.text(child, value), value.type
        if type is None:
            raise unknown(node)
        if isinstance(child, n.Text):
            text = f"CAST({text} AS TIMESTAMP(6))"
        elif not (is_date(type) or is_timestamp(type) or pa.types.is_null(type)):
            raise InvalidArgument(f"{node.name} takes dates and timestamps: write CAST(… AS TIMESTAMP)")
        if repeated and (len(text) > _LONGEST or not is_repeatable(child)):
            raise NotSupportedError(f"{node.name} of such an argument is not supported: compute it in a subquery first")
        if is_timestamp(type) and type.tz is not None and not instants:
            text, type = f"to_local_time({text})", pa.timestamp(type.unit)
        found.append(text if type == MICROS else f"CAST({text} AS TIMESTAMP(6))")
    return found


def _difference(writer: Writer, node: n.Call, arguments: Arguments, others: Arguments) -> Value | None:
    """date_diff(unit, start, end): the boundaries of units between two moments, as in DuckDB; date_sub: full units."""
    check_plain(node)
    if len(arguments) != 3:
        raise InvalidArgument(f"{node.name} is written as {node.name}('day', start, end)")
    unit = _unit(writer, node, arguments[0][0])
    zoned = all(is_timestamp(v.type) and v.type is not None and v.type.tz is not None for _, v in arguments[1:])
    start, end = _moments(writer, node, arguments[1:], instants=zoned and unit in _SIZES)  # an hour may be skipped
    is_full = node.name in ("date_sub", "datesub")
    text = _full_units(unit, start, end) if is_full else _boundaries(unit, start, end)
    return Value(text, INT64, 2**63)


def _micros(text: str) -> str:
    return f"arrow_cast({text}, 'Int64')"


def _boundaries(unit: str, start: str, end: str) -> str:
    if unit in _SIZES:
        size = _SIZES[unit]
        one, other = (
            f"(({_micros(t)} - (({_micros(t)} % {size}) + {size}) % {size}) / {size})" if size > 1 else _micros(t)
            for t in (start, end)
        )
    elif unit in ("day", "week"):
        one, other = (f"CAST(arrow_cast(CAST({t} AS DATE), 'Int32') AS BIGINT)" for t in (start, end))
        if unit == "week":
            return f"(({other} - {one}) / 7)"  # as DuckDB, which counts no Mondays
    else:
        one, other = (_number_of(unit, t) for t in (start, end))
    return f"({other} - {one})"


def _number_of(unit: str, text: str) -> str:
    """Returns a number of the year, quarter or month that rises by one from each to the next."""
    year, month = f"date_part('year', {text})", f"date_part('month', {text})"
    of = {"month": f"{year} * 12 + {month}", "quarter": f"{year} * 4 + ({month} - 1) / 3", "year": year}
    return f"CAST({of[unit]} AS BIGINT)"


def _full_units(unit: str, start: str, end: str) -> str:
    sizes = {**_SIZES, "day": 86_400_000_000, "week": 604_800_000_000}
    if unit in sizes:
        return f"(({_micros(end)} - {_micros(start)}) / {sizes[unit]})"
    full = f'"{FULL_MONTHS}"({start}, {end})'
    return full if unit == "month" else f"({full} / {3 if unit == 'quarter' else 12})"


def _date_add(call: n.Call, changes: Changes) -> None:
    """date_add(date, interval) of DuckDB, date_add('day', 1, date) of Trino."""
    check_plain(call)
    if len(call.arguments) == 2:
        changes.replace(call, ["(", *operand(call.arguments[0]), " + ", *operand(call.arguments[1]), ")"])
        return
    if len(call.arguments) != 3 or not isinstance(call.arguments[0], n.Text):
        raise InvalidArgument(
            f"{call.name} is written as {call.name}(date, INTERVAL '1 day') or {call.name}('day', 1, date)"
        )
    unit = _UNITS.get(call.arguments[0].value.lower())
    if unit is None:
        raise InvalidArgument(f"{call.name} does not know the unit {call.arguments[0].value!r}")
    _, number, moment = call.arguments
    interval = "3 months" if unit == "quarter" else f"1 {unit}"
    changes.replace(call, ["(", *operand(moment), " + ", *operand(number), f" * INTERVAL '{interval}')"])


def _age(writer: Writer, node: n.Call, arguments: Arguments, others: Arguments) -> Value | None:
    check_plain(node)
    if not 1 <= len(arguments) <= 2:
        raise InvalidArgument(f"age takes 1 or 2 arguments, not {len(arguments)}")
    texts = _moments(writer, node, arguments, repeated=False)
    if len(texts) == 1:
        texts.insert(0, "CAST(current_date AS TIMESTAMP(6))")
    return Value(f'"{AGE}"({texts[0]}, {texts[1]})', INTERVAL)


# --- texts -------------------------------------------------------------------------------------------------------


def _strftime(writer: Writer, node: n.Call, arguments: Arguments, others: Arguments) -> Value | None:
    check_plain(node)
    if len(arguments) != 2:
        raise InvalidArgument(f"{node.name} takes 2 arguments, not {len(arguments)}")
    moment, form = arguments
    if isinstance(moment[0], n.Text) and "%" in moment[0].value:
        moment, form = form, moment
    format = constant(writer, node, form[0], "a format")
    if moment[1].type is None:
        raise unknown(node)
    if not (is_date(moment[1].type) or is_timestamp(moment[1].type) or is_time(moment[1].type)):
        text = _moments(writer, node, [moment], repeated=False)[0]
    else:
        text = writer.text(*moment)
    if "%" not in format:
        return Value(_to_char(text, of_postgresql(format, reading=False)), pa.string())
    return Value(_to_char(text, of_strftime(node.name, format)), pa.string())


def _to_char(text: str, format: str) -> str:
    if len(format) > _MOST_OF_FORMAT:
        raise NotSupportedError(f"formats of more than {_MOST_OF_FORMAT:,} characters are not supported")
    return f"to_char({text}, {text_literal(format)})"


def to_char(writer: Writer, node: n.Call, arguments: Arguments, others: Arguments) -> Value | None:
    """to_char with a constant format of PostgreSQL."""
    if len(arguments) != 2 or not isinstance(arguments[1][0], n.Text) or "%" in arguments[1][0].value:
        return None
    format, type = arguments[1][0].value, arguments[0][1].type
    if type is not None and not (is_date(type) or is_timestamp(type) or is_time(type)):
        return None
    if not re.search("[A-Za-z]", format):
        return None
    return Value(_to_char(writer.text(*arguments[0]), of_postgresql(format, reading=False)), pa.string())


def _read(writer: Writer, node: n.Call, arguments: Arguments, others: Arguments) -> Value | None:
    """to_date(text, format), to_timestamp(text, format), strptime and date_parse."""
    is_foreign = node.name in ("strptime", "date_parse", "try_strptime")
    if len(arguments) != 2 and not is_foreign:
        return None
    check_plain(node)
    if len(arguments) != 2:
        raise InvalidArgument(f"{node.name} takes 2 arguments, not {len(arguments)}")
    (child, value), (form, _) = arguments
    if value.type is not None and not is_text(value.type) and not pa.types.is_null(value.type):
        if not is_foreign:
            return None
        raise InvalidArgument(f"{node.name} reads a text")
    if not is_foreign and (not isinstance(form, n.Text) or "%" in form.value):
        return None
    format = constant(writer, node, form, "a format")
    format = of_strptime(node.name, format) if is_foreign else of_postgresql(format, reading=True)
    text = writer.text(child, value)
    more, added = completed(format)
    if is_foreign:  # read in UTC, since not every local time exists in the session's time zone
        is_day = not re.search("%[HIT]", format)
        more, added = more + (" 00 00" if is_day else "") + " +0000", added + (" %H %M" if is_day else "") + " %z"
    if more:
        text = f"({text} || {text_literal(more)})"
    literal = text_literal(format + added)
    if node.name == "to_date":
        return Value(f"to_date({text}, {literal})", DATE)
    found = f"to_timestamp_micros({text}, {literal})"
    if is_foreign:
        return Value(f"CAST({found} AS TIMESTAMP(6))", MICROS)
    return Value(found, writer.typed_by("to_timestamp_micros(c0, c0)", [Value(None, pa.string())]))


# --- numbers -----------------------------------------------------------------------------------------------------

_PER_SECOND = {"epoch_ms": (1_000, "milliseconds"), "epoch_us": (1, "microseconds")}


def _epoch(writer: Writer, node: n.Call, arguments: Arguments, others: Arguments) -> Value | None:
    """epoch_ms(timestamp) as a number, and epoch_ms(number) as a timestamp."""
    check_plain(node)
    if len(arguments) != 1:
        raise InvalidArgument(f"{node.name} takes 1 argument, not {len(arguments)}")
    size = _PER_SECOND[node.name][0]
    if is_integer(arguments[0][1].type):
        number = f"CAST({writer.text(*arguments[0])} AS BIGINT)"
        unit = "Millisecond" if size == 1_000 else "Microsecond"
        return Value(
            f"arrow_cast(arrow_cast({number}, 'Timestamp({unit}, None)'), 'Timestamp(Microsecond, None)')", MICROS
        )
    (text,) = _instants(writer, node, arguments)
    if size == 1:
        return Value(_micros(text), INT64, 2**63)
    number = _micros(text)
    return Value(f"(({number} - (({number} % {size}) + {size}) % {size}) / {size})", INT64, 2**63)


def _instants(writer: Writer, node: n.Call, arguments: Arguments) -> list[str]:
    """Returns timestamps in microseconds; those with a time zone as they are in UTC."""
    child, value = arguments[0]
    if value.type is not None and is_timestamp(value.type) and value.type.tz is not None:
        text = writer.text(child, value)
        if len(text) > _LONGEST or not is_repeatable(child):
            raise NotSupportedError(f"{node.name} of such an argument is not supported: compute it in a subquery first")
        return [f"CAST({text} AS TIMESTAMP(6) WITH TIME ZONE)"]
    return _moments(writer, node, arguments)


_INTERVALS = {
    f"to_{unit}": unit
    for unit in (
        "microseconds milliseconds seconds minutes hours days weeks months quarters years decades centuries millennia"
    ).split()
}


def _interval(writer: Writer, node: n.Call, arguments: Arguments, others: Arguments) -> Value | None:
    """to_days(3)"""
    check_plain(node)
    if len(arguments) != 1:
        raise InvalidArgument(f"{node.name} takes 1 argument, not {len(arguments)}")
    return of_number(writer, node, *arguments[0], _INTERVALS[node.name])


_OF_SECONDS = "CAST(round(({0} - floor({0})) * 1000000) AS BIGINT)"
_TIME_OF_DAY = (
    "(arrow_cast(arrow_cast(make_time({0}, {1}, CAST(floor({2}) AS INT)), 'Time64(Microsecond)'), 'Int64') + "
    + _OF_SECONDS.replace("{0}", "{2}")
    + ")"
)


def _shifted(form: str, by: int) -> str:
    return re.sub(r"\{(\d)\}", lambda found: f"{{{int(found[1]) + by}}}", form)


_MADE = (
    "arrow_cast(arrow_cast(CAST(make_date({0}, {1}, {2}) AS TIMESTAMP(6)), 'Int64') + "
    + _shifted(_TIME_OF_DAY, 3)
    + ", 'Timestamp(Microsecond, None)')"
)


def _is_finite(writer: Writer, node: n.Call, arguments: Arguments, others: Arguments) -> Value | None:
    check_plain(node)
    if len(arguments) != 1:
        raise InvalidArgument(f"{node.name} takes 1 argument, not {len(arguments)}")
    type, text = arguments[0][1].type, writer.text(*arguments[0])
    if type is None:
        raise unknown(node)
    negated = node.name == "isinf"
    if is_float(type):
        number = f"abs(CAST({text} AS DOUBLE))"
        infinite = "CAST('Infinity' AS DOUBLE)"
        return Value(f"({number} {'=' if negated else '<'} {infinite})", pa.bool_())
    return Value(f"(CASE WHEN ({text}) IS NOT NULL THEN {str(not negated).lower()} END)", pa.bool_())


def _finite(name: str, what: str) -> Rule:
    return Rule(
        f"{name}(x)",
        "number, date or timestamp",
        "boolean",
        f"Whether a value is {what}.",
        f"SELECT {name}(CAST('Infinity' AS DOUBLE))",
        typed=_is_finite,
    )


def _between(name: str, what: str) -> Rule:
    return Rule(
        f"{name}(unit, start, end)",
        "varchar, timestamp, timestamp",
        "bigint",
        what,
        f"SELECT {name}('month', DATE '2024-01-31', DATE '2024-03-01')",
        typed=_difference,
    )


_BOUNDARIES = "The beginnings of units between two moments, as in DuckDB; for 'week' the full weeks."
_FULL = "The full units between two moments."
RULES = {
    **{name: _part(name) for name in _PARTS},
    "second": _full("second", "second", "second"),
    "millisecond": _full("millisecond", "millisecond", "seconds of the minute in milliseconds"),
    "microsecond": _full("microsecond", "microsecond", "seconds of the minute in microseconds"),
    "epoch": Rule(
        "epoch(x)",
        "date, timestamp or interval",
        "double",
        "The seconds since 1970-01-01, or those of an interval.",
        f"SELECT epoch({_MOMENT})",
        template("date_part('epoch', {0})"),
    ),
    **{
        name: Rule(
            f"{name}(x)",
            "timestamp or bigint",
            "bigint or timestamp",
            f"The {what} since 1970-01-01; of a number the timestamp.",
            f"SELECT {name}({_MOMENT})",
            typed=_epoch,
        )
        for name, (_, what) in _PER_SECOND.items()
    },
    "dayname": Rule(
        "dayname(x)",
        "date or timestamp",
        "varchar",
        "The English name of the day of the week.",
        f"SELECT dayname({_MOMENT})",
        template("to_char({0}, '%A')"),
    ),
    "monthname": Rule(
        "monthname(x)",
        "date or timestamp",
        "varchar",
        "The English name of the month.",
        f"SELECT monthname({_MOMENT})",
        template("to_char({0}, '%B')"),
    ),
    **{
        name: Rule(
            f"{name}(x)",
            "date or timestamp",
            "date",
            "The last day of the month.",
            f"SELECT {name}(DATE '2024-02-03')",
            template("CAST(date_trunc('month', {0}) + INTERVAL '1 month' - INTERVAL '1 day' AS DATE)"),
        )
        for name in ("last_day", "last_day_of_month")
    },
    **{name: _between(name, _BOUNDARIES) for name in ("date_diff", "datediff")},
    **{name: _between(name, _FULL) for name in ("date_sub", "datesub")},
    **{
        name: Rule(
            f"{name}(x, interval) or {name}(unit, number, x)",
            "timestamp, interval",
            "timestamp",
            "A moment plus an interval.",
            f"SELECT {name}('day', 3, DATE '2024-02-27')",
            _date_add,
        )
        for name in ("date_add", "dateadd")
    },
    "age": Rule(
        "age([end,] start)",
        "timestamp, timestamp",
        "interval",
        "The interval between two moments in years, months and days; the end is today if it is left out.",
        "SELECT age(DATE '2024-03-01', DATE '2023-01-31')",
        typed=_age,
    ),
    **{
        name: Rule(
            f"{name}(x, format)",
            "date or timestamp, varchar",
            "varchar",
            "A date or time as a text, with a constant format as in DuckDB and Python.",
            f"SELECT {name}({_MOMENT}, '%d.%m.%Y %H:%M:%S.%f')",
            typed=_strftime,
        )
        for name in ("strftime", "date_format")
    },
    **{
        name: Rule(
            f"{name}(text, format)",
            "varchar, varchar",
            "timestamp",
            "The timestamp in a text, with a constant format as in DuckDB and Python.",
            f"SELECT {name}('05.03.2024 10:20', '%d.%m.%Y %H:%M')",
            typed=_read,
        )
        for name in ("strptime", "date_parse")
    },
    **{
        name: Rule(
            f"{name}(n)",
            "integer" if unit not in ("seconds", "milliseconds") else "number",
            "interval",
            f"The interval of n {unit}.",
            f"SELECT DATE '2024-03-05' + {name}(3)",
            typed=_interval,
        )
        for name, unit in _INTERVALS.items()
    },
    "date": Rule(
        "date(x)",
        "timestamp or varchar",
        "date",
        "The date of a timestamp or in a text; as CAST(x AS DATE).",
        f"SELECT date({_MOMENT})",
        template("CAST({0} AS DATE)"),
    ),
    "make_timestamp": Rule(
        "make_timestamp(year, month, day, hour, minute, seconds)",
        "integer, integer, integer, integer, integer, number",
        "timestamp",
        "The timestamp with these fields; the seconds may have a fraction.",
        "SELECT make_timestamp(2024, 3, 5, 10, 20, 30.5)",
        template(_MADE),
    ),
    "make_time": Rule(
        "make_time(hour, minute, seconds)",
        "integer, integer, number",
        "time",
        "The time with these fields; the seconds may have a fraction.",
        "SELECT make_time(10, 20, 30.5)",
        template(f"arrow_cast({_TIME_OF_DAY}, 'Time64(Microsecond)')"),
    ),
    "to_char": Rule(
        "to_char(x, format)",
        "date or timestamp, varchar",
        "varchar",
        "A date or time as a text, with a format such as 'YYYY-MM-DD HH24:MI:SS' or '%Y-%m-%d %H:%M:%S'.",
        f"SELECT to_char({_MOMENT}, 'DD.MM.YYYY HH24:MI')",
        typed=to_char,
    ),
    "to_date": Rule(
        "to_date(text [, format])",
        "varchar, varchar",
        "date",
        "The date in a text, with a format such as 'DD.MM.YYYY' or '%d.%m.%Y'.",
        "SELECT to_date('05.03.2024', 'DD.MM.YYYY')",
        typed=_read,
    ),
    "to_timestamp": Rule(
        "to_timestamp(text, format) or to_timestamp(seconds)",
        "varchar, varchar",
        "timestamp with time zone",
        "The timestamp in a text, with a format such as 'DD.MM.YYYY HH24:MI', or that of seconds since 1970-01-01.",
        "SELECT to_timestamp('05.03.2024 10:20', 'DD.MM.YYYY HH24:MI')",
        typed=_read,
    ),
    "isfinite": _finite("isfinite", "neither infinite nor NaN"),
    "is_finite": _finite("is_finite", "neither infinite nor NaN"),
    "isinf": _finite("isinf", "infinite"),
}
