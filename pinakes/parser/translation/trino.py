"""The functions and forms of Trino."""

from __future__ import annotations

from sqlglot import expressions as exp

from pinakes.parser.translation.nodes import arguments, call, form, name_of, number_of, refuse, text_of
from pinakes.parser.translation.rules import (
    SEQUENCE,
    XOR,
    Dialect,
    Function,
    forms,
    joined,
    limited,
    no_escapes,
    of_mysql,
    renamed,
    replace_all,
    same,
    strict,
    substring_call,
    value_at,
)


def substring(node: exp.Anonymous) -> exp.Expr:
    """substr, whose negative start counts from the end; empty for 0 and for a start before the text."""
    found = arguments(node, 2, 3)
    start, count = number_of(found[1]), number_of(found[2]) if len(found) == 3 else 0
    if start is None:
        raise refuse("substr whose start is no constant")
    tail = found[2:] if count is not None and count >= 0 else [form("greatest({0}, 0)", *found[2:])]
    if start > 0:
        return call("substr", found[0], found[1], *tail)
    if start == 0:
        return form("substr({0}, 1, 0)", found[0])
    places = ", {1}" if tail else ""
    return form(
        f"(CASE WHEN length({{0}}) < {-start} THEN substr({{0}}, 1, 0) "
        f"ELSE substr(right({{0}}, {-start}), 1{places}) END)",
        found[0],
        *tail,
    )


def _extract(node: exp.Expr) -> exp.Expr | None:
    unit = node.this.name.upper()
    part = _PARTS.get(unit)
    if part is None:
        raise refuse(f"EXTRACT({unit})")
    if part == "second":
        return form("CAST(floor(date_part('second', {0})) AS BIGINT)", node.expression)
    return form(f"CAST(date_part('{part}', {{0}}) AS BIGINT)", node.expression)


_PARTS = {
    "YEAR": "year", "QUARTER": "quarter", "MONTH": "month", "WEEK": "week", "DAY": "day", "DAY_OF_MONTH": "day",
    "DAY_OF_WEEK": "isodow", "DOW": "isodow", "DAY_OF_YEAR": "doy", "DOY": "doy", "HOUR": "hour", "MINUTE": "minute",
    "SECOND": "second", "YEAR_OF_WEEK": "isoyear", "YOW": "isoyear",
}  # fmt: skip


def _date_add(node: exp.Anonymous) -> exp.Expr | None:
    unit, number, moment = arguments(node, 3, 3)
    name, count = (text_of(unit) or "").lower(), number_of(number)
    if name not in _UNITS:
        raise refuse("date_add with such a unit")
    if count is None:
        return None
    length = f"{count * 3} month" if name == "quarter" else f"{count} {name}"
    return form(f"({{0}} + INTERVAL '{length}')", moment)  # a date stays one


_UNITS = ("millisecond", "second", "minute", "hour", "day", "week", "month", "quarter", "year")


def _date_diff(node: exp.Anonymous) -> exp.Expr:
    """The full units between two moments: date_diff here counts their boundaries."""
    unit, start, end = arguments(node, 3, 3)
    if (text_of(unit) or "").lower() not in _UNITS:
        raise refuse("date_diff with such a unit")
    return call("date_sub", unit, start, end)


def _date_format(node: exp.Anonymous) -> exp.Expr:
    moment, format = arguments(node, 2, 2)
    return call("strftime", moment, of_mysql(format, reading=False))


def _date_parse(node: exp.Anonymous) -> exp.Expr:
    text, format = arguments(node, 2, 2)
    return call("strptime", text, of_mysql(format, reading=True))


def _cast(node: exp.Expr) -> exp.Expr | None:
    kind, value = node.args["to"], text_of(node.this)
    if kind.this == exp.DType.CHAR or (kind.this == exp.DType.DECIMAL and not kind.expressions):
        raise refuse("CHAR, or DECIMAL without digits,", "write VARCHAR, or DECIMAL(p, s)")
    if isinstance(node.this, exp.Struct) and kind.this == exp.DType.STRUCT:
        return _row(node.this, kind)
    if kind.this in (exp.DType.TIMESTAMP, exp.DType.TIMESTAMPNTZ) and value is not None:
        tail = value.strip().rsplit(" ", 1)[-1]
        if (
            not tail.replace(":", "").replace(".", "").replace("-", "").isdigit()
            or value.count("-") > 2
            or "+" in value
        ):
            raise refuse("a timestamp literal with a time zone", "CAST('…' AS TIMESTAMP WITH TIME ZONE)")
    if kind.this in (exp.DType.TIMESTAMP, exp.DType.TIMESTAMPNTZ, exp.DType.TIME) and value is not None:
        digits = number_of(kind.expressions[0].this) if kind.expressions else None
        if digits == len(value.strip().partition(".")[2]):  # of a literal: TIMESTAMP '2020-01-01 10:00:00.5'
            kind.set("expressions", [])
    return _rounded(node, "half_up")


def _row(row: exp.Expr, kind: exp.Expr) -> exp.Expr:
    """CAST(ROW(1, 'x') AS ROW(a INTEGER, b VARCHAR))"""
    fields = [field for field in kind.expressions if isinstance(field, exp.ColumnDef)]
    if not len(fields) == len(kind.expressions) == len(row.expressions):
        raise refuse("a ROW whose fields have no names")
    pairs = [
        exp.PropertyEQ(this=field.this, expression=exp.Cast(this=value, to=field.args["kind"]))
        for field, value in zip(fields, row.expressions, strict=True)
    ]
    return exp.Struct(expressions=pairs)


def _rounded(node: exp.Expr, how: str) -> exp.Expr | None:
    """A cast to an integer rounds halves away from zero."""
    if node.args["to"].this not in INTEGERS or text_of(node.this) is not None or number_of(node.this) is not None:
        return None
    node.set("this", call(f'"${how}"', node.this))
    return None


INTEGERS = (exp.DType.TINYINT, exp.DType.SMALLINT, exp.DType.INT, exp.DType.BIGINT)


def _to_hex(node: exp.Anonymous) -> exp.Expr:
    """to_hex(md5(to_utf8(x))), which dbt writes: md5 of ours takes a text and returns hexadecimal digits."""
    (inner,) = arguments(node, 1, 1)
    if not isinstance(inner, exp.Anonymous) or name_of(inner) != "$digest":
        raise refuse("to_hex of other values than md5(to_utf8(x))")
    return form("upper(md5({0}))", inner.expressions[0])


def _md5(node: exp.Anonymous) -> exp.Expr:
    (inner,) = arguments(node, 1, 1)
    if not isinstance(inner, exp.Anonymous) or name_of(inner) != "$utf8":
        raise refuse("md5 of other values than to_utf8(x)")
    return exp.Anonymous(this="$digest", expressions=[inner.expressions[0]])


def _to_utf8(node: exp.Anonymous) -> exp.Expr:
    (inner,) = arguments(node, 1, 1)
    return exp.Anonymous(this="$utf8", expressions=[inner])


def _regexp_extract(node: exp.Anonymous) -> exp.Expr:
    """NULL without a match, where ours is an empty text."""
    found = arguments(node, 2, 3)
    if len(found) == 3 and number_of(found[2]) != 0:
        group = number_of(found[2])
        if group is None:
            raise refuse("regexp_extract whose group is no constant")
        return form(f"(CASE WHEN regexp_like({{0}}, {{1}}) THEN regexp_extract({{0}}, {{1}}, {group}) END)", *found[:2])
    return form("(CASE WHEN regexp_like({0}, {1}) THEN regexp_extract({0}, {1}) END)", *found[:2])


def _split(node: exp.Anonymous) -> exp.Expr:
    text, delimiter = arguments(node, 2, 2)
    if not text_of(delimiter):
        raise refuse("split with such a delimiter")
    return call("string_split", text, delimiter)


_BLANKS = (
    "".join(
        map(
            chr, (*range(9, 14), *range(28, 33), 0x1680, *range(0x2000, 0x2007), *range(0x2008, 0x200B), 0x2028, 0x2029)
        )
    )
    + "\u205f\u3000"
)
"""What trim removes: blanks, tabs, ends of lines, and others."""


def _trim(name: str) -> Function:
    def rule(node: exp.Anonymous) -> exp.Expr:
        found = arguments(node, 1, 2)
        return call(name, found[0], *(found[1:] or [exp.Literal.string(_BLANKS)]))

    return rule


def _trimmed(node: exp.Expr) -> exp.Expr | None:
    """TRIM(LEADING 'x' FROM y)"""
    where = str(node.args.get("position") or "BOTH").upper()
    name = {"BOTH": "btrim", "LEADING": "ltrim", "TRAILING": "rtrim"}[where]
    return _trim(name)(call(name, *(value for value in (node.this, node.expression) if value is not None)))


def _map(node: exp.Expr) -> exp.Expr:
    if node.args.get("keys") is None:
        raise refuse("MAP()")
    return call("map", node.args["keys"], node.args["values"])


def _bracket(node: exp.Expr) -> None:
    if any((number_of(index) or 0) < 0 for index in node.expressions):
        raise refuse("a negative index", "write element_at(x, -1)")


FUNCTIONS: dict[str, Function] = {
    **same(
        "abs acos asin atan atan2 cbrt ceil ceiling cos cosh degrees exp floor ln log2 log10 pi pow power radians sign "
        "signum sin sinh sqrt tan tanh round coalesce nullif lower upper length reverse strpos "
        "starts_with concat_ws chr translate sum avg min max count count_if bool_and bool_or array_agg "
        "approx_distinct stddev stddev_pop stddev_samp variance var_pop var_samp corr covar_pop covar_samp grouping "
        "row_number rank dense_rank percent_rank cume_dist ntile lead lag first_value last_value nth_value year month "
        "day hour minute second quarter week day_of_month day_of_week dow day_of_year doy week_of_year now "
        "regexp_like json_array_length cardinality map_keys map_values array_distinct unnest"
    ),
    "approx_percentile": limited(2, 2),
    "max_by": value_at("DESC"),
    "min_by": value_at("ASC"),
    "every": renamed("bool_and"),
    "arbitrary": renamed("any_value"),
    "any_value": renamed("any_value"),
    "concat": joined,
    "greatest": strict("greatest"),
    "least": strict("least"),
    "substr": substring,
    "substring": substring,
    "trim": _trim("btrim"),
    "ltrim": _trim("ltrim"),
    "rtrim": _trim("rtrim"),
    "lpad": limited(3, 3),
    "rpad": limited(3, 3),
    "replace": forms("replace({0}, {1}, '')", "replace({0}, {1}, {2})"),
    "split_part": forms("split_part({0}, {1}, {2})"),
    "split": _split,
    "levenshtein_distance": forms("levenshtein({0}, {1})"),
    "codepoint": forms("ascii({0})"),
    "position": forms("strpos({1}, {0})"),
    "mod": forms("({0} % {1})"),
    "log": forms("log({0}, {1})"),
    "truncate": forms("trunc({0})"),
    "rand": forms("random()"),
    "random": forms("random()"),
    "bitwise_and": forms("({0} & {1})"),
    "bitwise_or": forms("({0} | {1})"),
    "bitwise_xor": forms(XOR),
    "is_nan": forms("isnan({0})"),
    "date": forms("CAST({0} AS DATE)"),
    "date_add": _date_add,
    "date_diff": _date_diff,
    "date_trunc": forms("date_trunc({0}, {1})"),
    "date_format": _date_format,
    "date_parse": _date_parse,
    "last_day_of_month": forms("last_day({0})"),
    "to_unixtime": forms("CAST(extract(epoch FROM {0}) AS DOUBLE)"),
    "from_unixtime": forms("to_timestamp({0})"),
    "year_of_week": forms("CAST(date_part('isoyear', {0}) AS BIGINT)"),
    "yow": forms("CAST(date_part('isoyear', {0}) AS BIGINT)"),
    "regexp_replace": replace_all,
    "regexp_extract": _regexp_extract,
    "regexp_count": limited(2, 2),
    "json_extract_scalar": forms("json_value({0}, {1})"),
    "json_extract": forms("json_extract({0}, {1})"),
    "json_value": forms("json_value({0}, {1})"),
    "json_query": forms("json_query({0}, {1})"),
    "listagg": renamed("string_agg"),
    "array_max": forms("array_max({0})"),
    "array_min": forms("array_min({0})"),
    "array_join": forms("array_to_string({0}, {1})", "array_to_string({0}, {1}, {2})"),
    "array_position": forms(
        "(CASE WHEN {0} IS NULL OR {1} IS NULL THEN NULL "
        "ELSE COALESCE(CAST(array_position({0}, {1}) AS BIGINT), 0) END)"
    ),
    "array_sort": forms("array_sort({0}, 'ASC', 'NULLS LAST')"),
    "contains": forms("({1} = ANY({0}))"),
    "if": forms("(CASE WHEN {0} THEN {1} END)", "(CASE WHEN {0} THEN {1} ELSE {2} END)"),
    "nan": forms("CAST('NaN' AS DOUBLE)"),
    "infinity": forms("CAST('Infinity' AS DOUBLE)"),
    "element_at": forms("{0}[{1}]"),
    "sequence": forms(SEQUENCE),
    "transform": renamed("list_transform"),
    "filter": renamed("list_filter"),
    "any_match": renamed("any_match"),
    "to_utf8": _to_utf8,
    "md5": _md5,
    "to_hex": _to_hex,
    "url_extract_host": forms("url_extract_host({0})"),
    "url_extract_path": forms("url_extract_path({0})"),
    "url_extract_protocol": forms("url_extract_protocol({0})"),
    "url_extract_query": forms("url_extract_query({0})"),
    "url_extract_fragment": forms("url_extract_fragment({0})"),
    "url_extract_port": forms("url_extract_port({0})"),
    "row": lambda node: call("row", *node.expressions),
    "current_timezone": forms("current_setting('time_zone')"),
    "version": limited(0, 0),
}


def _zone(node: exp.Expr) -> None:
    raise refuse(
        "AT TIME ZONE of Trino", "it keeps the moment there, and here it returns a timestamp without time zone"
    )


DIALECT = Dialect(
    "trino",
    "Trino",
    FUNCTIONS,
    {
        exp.Extract: _extract,
        exp.Cast: _cast,
        exp.TryCast: _cast,
        exp.Like: no_escapes,
        exp.AtTimeZone: _zone,
        exp.Map: _map,
        exp.Bracket: _bracket,
        exp.Trim: _trimmed,
        exp.Substring: lambda node: substring(substring_call(node)),
    },
)
