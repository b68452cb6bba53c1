"""The functions and forms of DuckDB."""

from __future__ import annotations

from sqlglot import expressions as exp

from pinakes.parser.translation.nodes import arguments, call, form, refuse
from pinakes.parser.translation.rules import (
    Dialect,
    Function,
    float_division,
    forms,
    limited,
    no_escapes,
    part_of_text,
    renamed,
    same,
    substring_call,
)

_PARTS = frozenset(
    "year month day hour minute quarter week dow isodow doy isoyear epoch dayofweek weekday dayofyear decade century "
    "millennium".split()
)


def _extract(node: exp.Expr) -> exp.Expr | None:
    part = node.this.name.lower()
    part = {"dayofweek": "dow", "weekday": "dow", "dayofyear": "doy"}.get(part, part)
    if part == "second":
        return form("CAST(floor(date_part('second', {0})) AS BIGINT)", node.expression)
    if part not in _PARTS:
        raise refuse(f"EXTRACT({part})")
    return form(f"date_part('{part}', {{0}})", node.expression)


def _date_part(node: exp.Anonymous) -> exp.Expr | None:
    part, value = arguments(node, 2, 2)
    return _extract(exp.Extract(this=exp.Var(this=part.name), expression=value))


def _json_array(node: exp.Anonymous) -> None:
    """json_array, which leaves out NULLs here."""
    if not all(isinstance(value, exp.Literal | exp.Boolean) for value in node.expressions):
        raise refuse("json_array of values that may be NULL", "write to_json(list)")


FUNCTIONS: dict[str, Function] = {
    **same(
        "abs acos asin atan atan2 cbrt ceil ceiling cos cosh degrees exp floor ln log2 log10 pi pow power radians "
        "sin sinh sqrt tan tanh round trunc coalesce nullif lower upper length reverse ltrim rtrim trim strpos instr "
        "starts_with ends_with concat concat_ws chr translate sum avg min max count count_if countif bool_and bool_or "
        "array_agg list first last any_value arg_max arg_min max_by min_by string_agg approx_count_distinct stddev "
        "stddev_pop stddev_samp variance var_pop var_samp corr covar_pop covar_samp grouping mode median "
        "quantile_cont percentile_cont bit_and bit_or bit_xor row_number rank dense_rank percent_rank cume_dist ntile "
        "lead lag first_value last_value nth_value year month day hour minute second quarter week dayofweek weekday "
        "isodow dayofyear weekofyear now date_trunc date_diff datediff date_sub datesub strftime strptime greatest "
        "least replace lpad rpad repeat left right split_part string_split str_split string_to_array ascii md5 "
        "levenshtein regexp_replace regexp_extract list_transform list_filter array_transform array_filter "
        "list_value list_contains list_has array_contains len array_length list_sum list_max "
        "list_concat array_concat unnest struct_pack generate_series range ifnull "
        "json_extract json_extract_string json_array_length json_keys json_valid json_type current_schema current_date "
        "last_day monthname dayname make_date age epoch uuid random gcd lcm factorial isnan isinf isfinite "
        "to_json json_object regexp_extract_all list_append list_prepend "
        "array_to_string map map_keys map_values cardinality nvl2 product histogram kurtosis skewness row version"
    ),
    "round": limited(1, 2),
    "json_array": _json_array,
    "list_distinct": forms("array_distinct(array_compact({0}))"),
    "sha256": forms("encode(sha256({0}), 'hex')"),
    "list_min": renamed("array_min"),
    "list_sort": forms("array_sort({0}, 'ASC', 'NULLS LAST')"),
    "array_sort": forms("array_sort({0}, 'ASC', 'NULLS LAST')"),
    "sign": forms("CAST(sign({0}) AS INT)"),
    "substr": part_of_text(0),
    "substring": part_of_text(0),
    "mod": forms("({0} % {1})"),
    "log": forms("log10({0})", "log({0}, {1})"),
    "regexp_matches": forms("regexp_matches({0}, {1})"),
    "date_part": _date_part,
    "datepart": _date_part,
    "if": forms("(CASE WHEN {0} THEN {1} ELSE {2} END)"),
    "date_add": forms("({0} + {1})"),
    "contains": forms("contains({0}, {1})"),
    "prefix": forms("starts_with({0}, {1})"),
    "suffix": forms("ends_with({0}, {1})"),
    "today": forms("current_date"),
    "get_current_timestamp": forms("now()"),
    "group_concat": renamed("string_agg"),
    "listagg": renamed("string_agg"),
}


def _unnest(node: exp.Expr) -> exp.Expr:
    if node.expressions:
        raise refuse("unnest with options")
    return call("unnest", node.this)


def _in(node: exp.Expr) -> None:
    if node.args.get("field") is not None:
        raise refuse("IN with a list", "write list_contains(list, x)")


def _map(node: exp.Expr) -> exp.Expr:
    if not getattr(node.args.get("keys"), "expressions", True):
        raise refuse("map()")
    return call("map", node.args["keys"], node.args["values"])


def _full_match(node: exp.Expr) -> exp.Expr:
    """`~` matches the complete text."""
    return form("({0} ~ ('^(?:' || {1} || ')$'))", node.this, node.expression)


def _refuse_similar(node: exp.Expr) -> None:
    raise refuse("SIMILAR TO of DuckDB, which takes a regular expression", "regexp_matches(x, '^(…)$')")


DIALECT = Dialect(
    "duckdb",
    "DuckDB",
    FUNCTIONS,
    {
        exp.Div: float_division,
        exp.Map: _map,
        exp.Extract: _extract,
        exp.Explode: _unnest,
        exp.In: _in,
        exp.Like: no_escapes,
        exp.ILike: no_escapes,
        exp.RegexpFullMatch: _full_match,
        exp.RegexpLike: _full_match,
        exp.SimilarTo: _refuse_similar,
        exp.Substring: lambda node: part_of_text(0)(substring_call(node)),
    },
)
