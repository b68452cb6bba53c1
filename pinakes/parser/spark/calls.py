"""Translates function calls by the templates of `functions.py`; functions that need more than a template are here."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import expressions as exp

from pinakes.parser.spark import patterns
from pinakes.parser.spark import types as t
from pinakes.parser.spark.functions import FUNCTIONS, Function
from pinakes.parser.spark.tree import name_of, refused
from pinakes.parser.spark.writing import Writing

_PARTS = {
    **{part: f"extract({part} FROM {{0}})" for part in ("year", "quarter", "month", "week", "day", "doy")},
    **{part: f"extract({part} FROM {{0}})" for part in ("hour", "minute")},
    "dow": "(extract(dow FROM {0}) - 1)",
    "isodow": "extract(dow_iso FROM {0})",
}
_TRUNCATED = ("year", "quarter", "month", "week", "day", "hour", "minute", "second")
_WHOLE = {"w": 0, "p": 1, "c": 1}


def written(node: exp.Anonymous, writing: Writing) -> exp.Expr:
    """Translates a call in its context: DISTINCT, FILTER and OVER are around it, or in it."""
    name, arguments = name_of(node), list(node.expressions)
    known = FUNCTIONS.get(name)
    if known is None:
        raise refused(f"the function {name}")
    if known.window and not _is_windowed(node):
        raise refused(f"{name} without OVER")
    if name in ("avg", "mean") and t.is_decimal(writing.type(node)):
        return _average(arguments[0], node, writing)
    if name == "string_agg":
        return _string_agg(arguments, writing)
    return of(name, arguments, writing)


def of(name: str, arguments: list[exp.Expr], writing: Writing) -> exp.Expr:
    """Translates a call by its name."""
    known = FUNCTIONS[name]
    distinct = known.aggregate and len(arguments) == 1 and isinstance(arguments[0], exp.Distinct)
    given = list(arguments[0].expressions) if distinct else arguments
    if not known.least <= len(given) <= known.most:
        raise refused(f"the function {name} with {len(given)} arguments")
    if not isinstance(given[0] if given else None, exp.Star):
        _check(name, known, given, writing)
    match name:
        case "date_part" | "datepart":
            return part(given[0].name.lower(), given[1], writing)
        case "date_trunc":
            return _truncated(given[0].name.lower(), given[1], writing)
        case "round" if t.is_float(writing.type(given[0])):
            if len(given) == 2:
                raise refused("round of doubles to some digits")
            return writing.raw("CASE WHEN round({0}) = 0 THEN {0} * 0D ELSE round({0}) END", given)  # keeps -0.0
        case "to_hex" if t.is_integer(writing.type(given[0])) and _bits(given[0], writing) < 64:
            return writing.raw("lower(hex({0} & 4294967295L))", given)  # Spark extends an int to 64 bits
        case "nullif":
            check_exact(given, writing)
        case "concat":
            return _concat(given, writing)
        case "regexp_like" | "regexp_replace":
            return patterns.written(name, given, writing)
    if known.type is FUNCTIONS["coalesce"].type:
        given = _unified(given, writing)
    texts = [writing.text(argument, plain=known.plain) for argument in given]
    for at, argument in enumerate(given):
        if _is_cast(known, at, argument, writing):
            texts[at] = f"CAST({texts[at]} AS DOUBLE)"
    if distinct:
        texts[0] = f"DISTINCT {texts[0]}"
    return exp.Var(this=known.template.format(*texts, all=", ".join(texts)))


def check_exact(compared: Sequence[exp.Expr], writing: Writing) -> None:
    """Refuses a comparison of decimals for which Spark would drop digits."""
    if not t.is_exact([writing.type(node) for node in compared]):
        raise refused("a comparison of decimals that have more than 38 digits together")


def _bits(node: exp.Expr, writing: Writing) -> int:
    type = writing.type(node)
    return 64 if type is None else int(type.bit_width)


def _unified(given: list[exp.Expr], writing: Writing) -> list[exp.Expr]:
    holder = exp.Tuple(expressions=list(given))
    writing.unify(holder.expressions, t.common(*map(writing.type, holder.expressions)))
    return list(holder.expressions)


def _is_cast(known: Function, at: int, argument: exp.Expr, writing: Writing) -> bool:
    wants = known.wants[at : at + 1]
    return wants == "f" and not t.is_float(writing.type(argument))


def _check(name: str, known: Function, given: Sequence[exp.Expr], writing: Writing) -> None:
    for argument, wants in zip(given, known.wants.ljust(len(given), "."), strict=False):
        type = writing.type(argument)
        fits = {
            "s": t.is_text(type) or t.is_null(type),
            "n": t.is_number(type),
            "f": t.is_number(type),
            "d": t.is_date(type) or t.is_moment(type),
            ".": True,
        }.get(wants)
        if fits is None:
            fits = _is_constant(argument, wants)
        if not fits:
            raise refused(f"the function {name} with such arguments")


def _is_constant(argument: exp.Expr, wants: str) -> bool:
    if not isinstance(argument, exp.Literal):
        return False
    if wants == "t":
        return bool(argument.is_string and argument.name)
    if argument.is_string or not argument.name.isdigit() or int(argument.name) < _WHOLE[wants]:
        return False
    return wants != "c" or int(argument.name) < 128


def _is_windowed(node: exp.Expr) -> bool:
    parent = node.parent
    while isinstance(parent, exp.Filter | exp.IgnoreNulls | exp.RespectNulls):
        parent = parent.parent
    return isinstance(parent, exp.Window)


# --- functions without a template ------------------------------------------------------------------------------------


def part(name: str, value: exp.Expr, writing: Writing) -> exp.Expr:
    """Translates EXTRACT and date_part."""
    type = writing.type(value)
    if name not in _PARTS or not (t.is_date(type) or t.is_moment(type)):
        raise refused(f"EXTRACT({name.upper()} …)")
    if t.is_date(type) and name in ("hour", "minute", "second"):
        raise refused(f"EXTRACT({name.upper()} …) of a date")
    return writing.raw(_PARTS[name], [value])


def _truncated(unit: str, value: exp.Expr, writing: Writing) -> exp.Expr:
    type = writing.type(value)
    if unit not in _TRUNCATED:
        raise refused(f"date_trunc('{unit}', …)")
    has_zone = t.is_moment(type) and type is not None and type.tz is not None
    return writing.raw(f"CAST(date_trunc('{unit}', {{0}}) AS {'TIMESTAMP' if has_zone else 'TIMESTAMP_NTZ'})", [value])


def _concat(given: Sequence[exp.Expr], writing: Writing) -> exp.Expr:
    """Translates concat, which ignores NULL arguments in DataFusion and returns NULL for them in Spark."""
    texts = [writing.text(writing.as_text(argument)) for argument in given]
    return exp.Var(this=f"concat({', '.join(f'coalesce({text}, {_EMPTY})' for text in texts)})")


_EMPTY = "''"


def _average(argument: exp.Expr, node: exp.Expr, writing: Writing) -> exp.Expr:
    """Translates the average of decimals, which DataFusion truncates after some digits and Spark rounds."""
    distinct = isinstance(argument, exp.Distinct)
    value = writing.text(argument.expressions[0] if distinct else argument)
    words = f"DISTINCT {value}" if distinct else value
    return averaged(node, (f"sum({words})", f"count({words})"), writing)


def averaged(node: exp.Expr, parts: tuple[str, str], writing: Writing) -> exp.Expr:
    """Builds an average from its sum and its count. `around_average` completes one inside FILTER or OVER."""
    if isinstance(node.parent, exp.Filter | exp.Window) and node.parent.this is node:
        return writing.await_average(parts)
    type = writing.type(node)
    assert type is not None
    return writing.cut(f"({parts[0]} / nullif({parts[1]}, 0L))", type)


def around_average(node: exp.Filter | exp.Window, writing: Writing) -> exp.Expr:
    """Translates FILTER or OVER around a call; around an average it applies to both parts."""
    parts = writing.averages.get(id(node.this))
    if parts is None:
        return node
    texts = []
    for part in parts:
        copy = node.copy()
        copy.set("this", exp.Var(this=part))
        texts.append(writing.text(copy))
    return averaged(node, (texts[0], texts[1]), writing)


def _string_agg(arguments: list[exp.Expr], writing: Writing) -> exp.Expr:
    value, separator = arguments
    order = None
    if isinstance(separator, exp.Order):
        order, separator = separator, separator.this
    if isinstance(value, exp.Distinct) or order is None:
        raise refused("string_agg without ORDER BY, or with DISTINCT,")
    if not isinstance(separator, exp.Literal) or not t.is_text(writing.type(value)):
        raise refused("the function string_agg with such arguments")
    keys = ", ".join(str(key.sql(dialect="spark", identify=True)) for key in order.expressions)
    return writing.raw(f"listagg({{0}}, {{1}}) WITHIN GROUP (ORDER BY {keys})", [value, separator])
