"""The functions and forms of Spark, with its ANSI mode, which is its default since version 4."""

from __future__ import annotations

import re

from sqlglot import expressions as exp

from pinakes.parser.translation.nodes import arguments, call, form, form_of, name_of, number_of, refuse, text_of
from pinakes.parser.translation.rules import (
    SEQUENCE,
    XOR,
    Dialect,
    Function,
    float_division,
    forms,
    joined,
    limited,
    of_java,
    part_of_text,
    renamed,
    replace_all,
    same,
    substring_call,
    value_at,
)

_PARTS = {
    "YEAR": "date_part('year', {0})", "QUARTER": "date_part('quarter', {0})", "MONTH": "date_part('month', {0})",
    "WEEK": "date_part('week', {0})", "DAY": "date_part('day', {0})", "DAYS": "date_part('day', {0})",
    "DAYOFWEEK": "(date_part('dow', {0}) + 1)", "DOW": "(date_part('dow', {0}) + 1)",
    "DAYOFWEEK_ISO": "date_part('isodow', {0})", "DOW_ISO": "date_part('isodow', {0})",
    "DOY": "date_part('doy', {0})", "HOUR": "date_part('hour', {0})", "MINUTE": "date_part('minute', {0})",
    "YEAROFWEEK": "date_part('isoyear', {0})", "SECOND": "date_part('second', {0})",
}  # fmt: skip


def _extract(node: exp.Expr) -> exp.Expr:
    part = node.this.name.upper()
    if part not in _PARTS:
        raise refuse(f"EXTRACT({part})")
    return form(_PARTS[part], node.expression)


def _one_value(name: str) -> Function:
    """first and last, whose second argument means IGNORE NULLS."""

    def rule(node: exp.Anonymous) -> None:
        if len(node.expressions) > 1:
            raise refuse(f"{name_of(node)} with 2 arguments", f"write {name_of(node)}(x) IGNORE NULLS")
        node.set("this", name)

    return rule


_SPECIAL = re.compile(r"[\\^$.|?*+()\[\]{}]")


def _split(node: exp.Anonymous) -> exp.Expr:
    """split, whose delimiter is a regular expression."""
    text, delimiter = arguments(node, 2, 2)
    plain = text_of(delimiter)
    if plain is not None and re.fullmatch(r"\\[.|*+?$^\\]|\[[.|*+?$]\]", plain):
        plain = plain.strip("[]")[-1]
    elif not plain or _SPECIAL.search(plain):
        raise refuse("split with a regular expression")
    return call("string_split", text, exp.Literal.string(plain))


def _date_trunc(node: exp.Anonymous) -> exp.Expr:
    unit, value = arguments(node, 2, 2)
    found = _UNITS.get((text_of(unit) or "").lower())
    if found is None:
        raise refuse("date_trunc with such a unit")
    return form(f"date_trunc('{found}', {{0}})", value)


def _trunc(node: exp.Anonymous) -> exp.Expr:
    value, unit = arguments(node, 2, 2)
    found = _UNITS.get((text_of(unit) or "").lower())
    if found not in ("year", "quarter", "month", "week"):
        raise refuse("trunc with such a unit")
    return form(f"CAST(date_trunc('{found}', {{0}}) AS DATE)", value)


_UNITS = {
    "year": "year", "yyyy": "year", "yy": "year", "quarter": "quarter", "month": "month", "mon": "month", "mm": "month",
    "week": "week", "day": "day", "dd": "day", "hour": "hour", "minute": "minute", "second": "second",
}  # fmt: skip


def _date_format(node: exp.Anonymous) -> exp.Expr:
    moment, format = arguments(node, 2, 2)
    return call("strftime", moment, of_java(format, reading=False))


def _to_date(node: exp.Anonymous) -> exp.Expr:
    found = arguments(node, 1, 2)
    if len(found) == 1:
        return form("CAST({0} AS DATE)", found[0])
    return form("CAST(strptime({0}, {1}) AS DATE)", found[0], of_java(found[1], reading=True))


def _cast(node: exp.Expr) -> exp.Expr | None:
    """A cast to an integer drops the fraction. sqlglot reads CAST as Spark had it before its ANSI mode."""
    kinds = (exp.DType.TINYINT, exp.DType.SMALLINT, exp.DType.INT, exp.DType.BIGINT)
    kind = node.args["to"]
    if kind.this == exp.DType.DECIMAL and not kind.expressions:
        kind.set("expressions", [exp.DataTypeParam(this=exp.Literal.number(digits)) for digits in (10, 0)])
    if kind.this in (exp.DType.CHAR, exp.DType.VARCHAR):
        raise refuse("a cast to CHAR or VARCHAR", "write STRING")
    if kind.this in kinds and text_of(node.this) is None and number_of(node.this) is None:
        node.set("this", call('"$whole"', node.this))
    if isinstance(node, exp.TryCast) and not node.args.get("safe"):
        return exp.Cast(this=node.this, to=node.args["to"])
    return None


def _collected(distinct: str) -> Function:
    def rule(node: exp.Anonymous) -> exp.Expr:
        if isinstance(node.parent, exp.Filter | exp.Window):
            raise refuse("collect_list with FILTER or OVER")
        (value,) = arguments(node, 1, 1)
        if isinstance(value, exp.Distinct):
            raise refuse("collect_list with DISTINCT")
        return form(f"COALESCE(array_agg({distinct}{{0}}) FILTER (WHERE {{0}} IS NOT NULL), [])", value)

    return rule


def _lateral(node: exp.Expr) -> exp.Expr | None:
    raise refuse("LATERAL VIEW", "write CROSS JOIN UNNEST(list) AS t(x)")


def _trimmed(node: exp.Anonymous) -> exp.Expr:
    """ltrim and rtrim, which take the characters first."""
    found = arguments(node, 1, 2)
    return call(name_of(node), *reversed(found))


_BITS = (exp.BitwiseAnd, exp.BitwiseOr, exp.BitwiseXor, exp.BitwiseLeftShift, exp.BitwiseRightShift)


def _bits(node: exp.Expr) -> exp.Expr | None:
    """An operator of bits: & binds closer than ^, and ^ closer than |, which sqlglot does not know."""
    for operand in (node.this, node.expression):
        kind = exp.BitwiseXor if form_of(operand) == XOR else type(operand)
        if kind in _BITS and kind is not type(node):
            raise refuse("such a sequence of operators of bits", "put brackets around each of them")
    return form(XOR, node.this, node.expression) if isinstance(node, exp.BitwiseXor) else None


def _bracket(node: exp.Expr) -> None:
    raise refuse("[…] of Spark, which counts from 0", "write element_at, which counts from 1")


FUNCTIONS: dict[str, Function] = {
    **same(
        "abs acos asin atan atan2 cbrt cos cosh degrees exp ln log2 log10 pi pow power radians sin sinh "
        "sqrt tan tanh round coalesce nullif lower upper lcase ucase length char_length character_length reverse "
        "trim btrim concat_ws translate sum avg mean min max count count_if bool_and bool_or "
        "approx_count_distinct stddev stddev_pop stddev_samp variance var_pop var_samp corr covar_pop covar_samp "
        "grouping row_number rank dense_rank percent_rank cume_dist ntile lead lag "
        "year month day hour minute quarter dayofyear dayofmonth weekofyear last_day greatest least nvl ifnull nvl2 "
        "repeat ascii md5 levenshtein cardinality now current_date "
        "current_timestamp regexp_like string_agg"
    ),
    "log": forms("ln({0})", "log({0}, {1})"),
    "ceil": forms("ceil({0})"),
    "ceiling": forms("ceil({0})"),
    "floor": forms("floor({0})"),
    "sign": forms("sign({0})"),
    "signum": forms("sign({0})"),
    "mod": forms("({0} % {1})"),
    "concat": joined,
    "substr": part_of_text(1),
    "substring": part_of_text(1),
    "lpad": limited(3, 3),
    "rpad": limited(3, 3),
    "replace": forms("replace({0}, {1}, '')", "replace({0}, {1}, {2})"),
    "lcase": forms("lower({0})"),
    "ucase": forms("upper({0})"),
    "instr": forms("strpos({0}, {1})"),
    "locate": forms("strpos({1}, {0})"),
    "position": forms("strpos({1}, {0})"),
    "charindex": forms("strpos({1}, {0})"),
    "startswith": forms("starts_with({0}, {1})"),
    "endswith": forms("ends_with({0}, {1})"),
    "contains": forms("(strpos({0}, {1}) > 0)"),
    "split": _split,
    "split_part": forms("split_part({0}, {1}, {2})"),
    "regexp_replace": replace_all,
    "rlike": forms("({0} ~ {1})"),
    "regexp": forms("({0} ~ {1})"),
    "if": forms("(CASE WHEN {0} THEN {1} ELSE {2} END)"),
    "isnull": forms("({0} IS NULL)"),
    "isnotnull": forms("({0} IS NOT NULL)"),
    "isnan": forms("COALESCE(isnan({0}), false)"),
    "equal_null": forms("({0} IS NOT DISTINCT FROM {1})"),
    "datediff": forms("(CAST({0} AS DATE) - CAST({1} AS DATE))"),
    "date_diff": forms("(CAST({0} AS DATE) - CAST({1} AS DATE))"),
    "date_add": forms("(CAST({0} AS DATE) + {1})"),
    "dateadd": forms("(CAST({0} AS DATE) + {1})"),
    "date_sub": forms("(CAST({0} AS DATE) - {1})"),
    "add_months": forms("CAST(CAST({0} AS DATE) + {1} * INTERVAL '1' MONTH AS DATE)"),
    "dayofweek": forms("(CAST(date_part('dow', {0}) AS INT) + 1)"),
    "weekday": forms("(CAST(date_part('isodow', {0}) AS INT) - 1)"),
    "second": forms("CAST(floor(date_part('second', {0})) AS INT)"),
    "date_trunc": _date_trunc,
    "trunc": _trunc,
    "date_format": _date_format,
    "to_date": _to_date,
    "make_date": forms("make_date({0}, {1}, {2})"),
    "date": forms("CAST({0} AS DATE)"),
    "string": forms("CAST({0} AS VARCHAR)"),
    "double": forms("CAST({0} AS DOUBLE)"),
    "collect_list": _collected(""),
    "array_agg": _collected(""),
    "collect_set": _collected("DISTINCT "),
    "every": renamed("bool_and"),
    "ltrim": _trimmed,
    "rtrim": _trimmed,
    "nth_value": limited(2, 2),
    "any_value": _one_value("first_value"),
    "first_value": _one_value("first_value"),
    "last_value": _one_value("last_value"),
    "max_by": value_at("DESC"),
    "min_by": value_at("ASC"),
    "left": forms("left({0}, greatest({1}, 0))"),
    "right": forms("right({0}, greatest({1}, 0))"),
    "any": renamed("bool_or"),
    "some": renamed("bool_or"),
    "std": renamed("stddev_samp"),
    "first": _one_value("first_value"),
    "last": _one_value("last_value"),
    "listagg": renamed("string_agg"),
    "element_at": forms("{0}[{1}]"),
    "size": forms("cardinality({0})"),
    "array_size": forms("cardinality({0})"),
    "array": lambda node: exp.Array(expressions=node.expressions),
    "array_contains": forms("({1} = ANY({0}))"),
    "array_max": forms("array_max({0})"),
    "array_min": forms("array_min({0})"),
    "array_distinct": forms("array_distinct({0})"),
    "array_join": forms("array_to_string({0}, {1})", "array_to_string({0}, {1}, {2})"),
    "sequence": forms(SEQUENCE),
    "explode": renamed("unnest"),
    "transform": renamed("list_transform"),
    "filter": renamed("list_filter"),
    "exists": renamed("any_match"),
    "rand": forms("random()"),
    "random": forms("random()"),
    "uuid": forms("uuid()"),
}

DIALECT = Dialect(
    "spark",
    "Spark",
    FUNCTIONS,
    {
        exp.Div: float_division,
        exp.IntDiv: lambda node: None,
        exp.Extract: _extract,
        exp.Cast: _cast,
        exp.TryCast: _cast,
        exp.Bracket: _bracket,
        **dict.fromkeys(_BITS, _bits),
        exp.Lateral: _lateral,
        exp.Mod: lambda node: None,
        exp.Substring: lambda node: part_of_text(1)(substring_call(node)),
    },
)
