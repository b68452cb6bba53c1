"""Functions with the same results on Spark, and their translations. All others are refused.

A template has `{0}`, `{1}`, … for the arguments and `{all}` for all of them; `Typing` computes the type that DataFusion
gives the call. `wants` lists the arguments that must be constants of a kind, where the engines differ for others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pyarrow as pa

from pinakes.parser.spark import types as t

Types = Sequence[pa.DataType | None]


@dataclass(frozen=True, slots=True)
class Typing:
    """Computes the type of a call from those of its arguments."""

    rule: Callable[[Types], pa.DataType | None]

    def __call__(self, arguments: Types) -> pa.DataType | None:
        return self.rule(arguments)


@dataclass(frozen=True, slots=True)
class Function:
    template: str
    type: pa.DataType | Typing | None
    least: int = 1
    most: int = 1
    wants: str = ""
    """One letter for each argument: `w` an integer constant of at least 0, `p` of at least 1, `t` a constant text
    that is not empty, `s` text, `n` a number, `f` a number that becomes a double, `d` a date or timestamp, `.`
    anything.
    """
    aggregate: bool = False
    window: bool = False
    """Whether it needs OVER."""
    plain: bool = False
    """Whether integer constants among its arguments are ints in Spark, not bigints."""


_FIRST = Typing(lambda given: given[0])
_COMMON = Typing(lambda given: t.common(*given))
_SUM = Typing(lambda given: t.of_sum(given[0]))
_AVERAGE = Typing(lambda given: t.of_average(given[0]))
_MEDIAN = Typing(lambda given: t.DOUBLE if t.is_integer(given[0]) or t.is_float(given[0]) else None)
_ROUNDED = Typing(lambda given: given[0] if t.is_integer(given[0]) else t.DOUBLE if t.is_float(given[0]) else None)
_WHOLE_DOUBLE = Typing(lambda given: None if t.is_decimal(given[0]) else t.DOUBLE)
_TRUNCATED = Typing(lambda given: given[0] if t.is_moment(given[0]) else t.MOMENT)
_INT, _BINARY = pa.int32(), pa.binary()


def _double(template: str, count: int = 1) -> Function:
    return Function(template, t.DOUBLE, count, count, "f" * count)


def _text(template: str, least: int = 1, most: int | None = None, wants: str = "s") -> Function:
    return Function(template, t.TEXT, least, most or least, wants, plain=True)


_INFINITE = "double('Infinity')"


def _checked(template: str, outside: str, error: str) -> str:
    """Returns a template that reports arguments outside of the function's domain
    (`engine/datafusion/checked_functions.py`).
    """
    return f"CASE WHEN {outside} THEN raise_error('{error}') ELSE {template} END"


def _logarithm(name: str) -> Function:
    error = "cannot take the logarithm of zero or of a negative number"
    return _double(_checked(f"{name}({{0}})", "{0} <= 0", error))


def _of_angle(name: str) -> Function:
    return _double(_checked(f"{name}({{0}})", f"abs({{0}}) = {_INFINITE}", f"{name}() of an infinity is not defined"))


def _of_ratio(name: str) -> Function:
    error = f"{name}() is defined for numbers from -1 to 1 only"
    return _double(_checked(f"{name}({{0}})", "abs({0}) > 1 AND NOT isnan({0})", error))


def _whole(name: str) -> str:
    """Returns a template for a function whose result is a bigint in Spark: without NaN, infinities, numbers of over 63
    bits and -0.0. Numbers from 2 to the power of 52 on are whole.
    """
    small = f"CASE WHEN {name}({{0}}) = 0 THEN {{0}} * 0D ELSE CAST({name}({{0}}) AS DOUBLE) END"
    return f"CASE WHEN abs({{0}}) < 4503599627370496D THEN {small} ELSE {{0}} END"


_EXP = _checked("exp({0})", f"{{0}} < {_INFINITE} AND exp({{0}}) = {_INFINITE}", "exp() overflows")
_POWER = _checked(
    "power({all})",
    f"abs({{0}}) < {_INFINITE} AND abs({{1}}) < {_INFINITE} AND NOT abs(power({{all}})) < {_INFINITE}",
    "power() overflows or is undefined",
)
_ONE = f"{{1}} IS NOT NULL AND ({{0}} = 1 OR {{0}} = -1 AND abs({{1}}) = {_INFINITE})"
"""Powers that are 1 in C and NaN in Java."""
_POWER = f"CASE WHEN {_ONE} THEN 1D ELSE {_POWER} END"

FUNCTIONS: dict[str, Function] = {
    # --- text
    "lower": _text("lower({0})"),
    "upper": _text("upper({0})"),
    "reverse": _text("reverse({0})"),
    "btrim": _text("trim(BOTH ' ' FROM {0})"),
    "ltrim": _text("trim(LEADING ' ' FROM {0})"),
    "rtrim": _text("trim(TRAILING ' ' FROM {0})"),
    "replace": _text("replace({all})", 3, wants="sts"),
    "translate": _text("translate({all})", 3, wants="stt"),
    "repeat": _text("repeat({all})", 2, wants="sw"),
    "left": _text("left({all})", 2, wants="sw"),
    "right": _text("right({all})", 2, wants="sw"),
    "lpad": _text("lpad({all})", 2, 3, wants="swt"),
    "rpad": _text("rpad({all})", 2, 3, wants="swt"),
    "substr": _text("substring({all})", 2, 3, wants="spw"),
    "split_part": _text("split_part({all})", 3, wants="stp"),
    "md5": _text("md5({0})"),
    "sha224": Function("unhex(sha2({0}, 224))", _BINARY, wants="s"),
    "sha256": Function("unhex(sha2({0}, 256))", _BINARY, wants="s"),
    "sha384": Function("unhex(sha2({0}, 384))", _BINARY, wants="s"),
    "sha512": Function("unhex(sha2({0}, 512))", _BINARY, wants="s"),
    "to_hex": Function("lower(hex({0}))", t.TEXT, wants="n"),
    "chr": _text("chr({0})", wants="c"),
    "concat_ws": _text("concat_ws({all})", 2, 64, "ts" + "s" * 62),
    "length": Function("length({0})", _INT, wants="s"),
    "char_length": Function("length({0})", _INT, wants="s"),
    "character_length": Function("length({0})", _INT, wants="s"),
    "octet_length": Function("octet_length({0})", _INT, wants="s"),
    "bit_length": Function("bit_length({0})", _INT, wants="s"),
    "strpos": Function("instr({all})", _INT, 2, 2, "st"),
    "instr": Function("instr({all})", _INT, 2, 2, "st"),
    "levenshtein": Function("levenshtein({all})", _INT, 2, 2, "ss"),
    "starts_with": Function("startswith({all})", t.TRUTH, 2, 2, "ss"),
    "ends_with": Function("endswith({all})", t.TRUTH, 2, 2, "ss"),
    "contains": Function("contains({all})", t.TRUTH, 2, 2, "ss"),
    # --- numbers
    "abs": Function("abs({0})", _FIRST, wants="n"),
    "ceil": Function(_whole("ceil"), _WHOLE_DOUBLE, wants="f"),
    "floor": Function(_whole("floor"), _WHOLE_DOUBLE, wants="f"),
    "round": Function("round({all})", _ROUNDED, 1, 2, "nw", plain=True),
    "sqrt": _double(_checked("sqrt({0})", "{0} < 0", "cannot take square root of a negative number")),
    "cbrt": _double("cbrt({0})"),
    "exp": _double(_EXP),
    "ln": _logarithm("ln"),
    "log10": _logarithm("log10"),
    "log2": _logarithm("log2"),
    "power": _double(_POWER, 2),
    "pow": _double(_POWER, 2),
    "sin": _of_angle("sin"),
    "cos": _of_angle("cos"),
    "tan": _of_angle("tan"),
    "cot": _double("cot({0})"),
    "asin": _of_ratio("asin"),
    "acos": _of_ratio("acos"),
    "atan": _double("atan({0})"),
    "atan2": _double("atan2({all})", 2),
    "sinh": _double("sinh({0})"),
    "cosh": _double("cosh({0})"),
    "tanh": _double("tanh({0})"),
    "degrees": _double("degrees({0})"),
    "radians": _double("radians({0})"),
    "signum": _double("nanvl(signum({0}), 0D)"),
    "pi": Function("pi()", t.DOUBLE, 0, 0),
    "isnan": Function("CASE WHEN {0} IS NOT NULL THEN isnan({0}) END", t.TRUTH, wants="f"),
    "nanvl": _double("nanvl({all})", 2),
    "factorial": Function("factorial({0})", t.LONG, wants="w", plain=True),
    # --- any type
    "coalesce": Function("coalesce({all})", _COMMON, 1, 64),
    "nvl": Function("coalesce({all})", _COMMON, 2, 2),
    "ifnull": Function("coalesce({all})", _COMMON, 2, 2),
    "nullif": Function("nullif({all})", _FIRST, 2, 2),
    "nvl2": Function("nvl2({all})", Typing(lambda given: t.common(*given[1:])), 3, 3),
    "greatest": Function("greatest({all})", _COMMON, 2, 64),
    "least": Function("least({all})", _COMMON, 2, 64),
    # --- dates
    "date_part": Function("", _INT, 2, 2, "td"),
    "datepart": Function("", _INT, 2, 2, "td"),
    "date_trunc": Function("", _TRUNCATED, 2, 2, "td"),
    "make_date": Function("make_date({all})", t.DATE, 3, 3, "nnn", plain=True),
    "to_date": Function("CAST({0} AS DATE)", t.DATE, wants="s"),
    "now": Function("current_timestamp()", pa.timestamp("ns", "UTC"), 0, 0),
    "current_timestamp": Function("current_timestamp()", pa.timestamp("ns", "UTC"), 0, 0),
    "current_date": Function("current_date()", t.DATE, 0, 0),
    "today": Function("current_date()", t.DATE, 0, 0),
    # --- expressions
    "regexp_like": Function("", t.TRUTH, 2, 3, "sst"),
    "regexp_replace": Function("", t.TEXT, 3, 4, "ssst"),
    "concat": Function("", t.TEXT, 1, 64),
    # --- aggregates
    "count": Function("count({all})", t.LONG, 1, 1, aggregate=True),
    "sum": Function("sum({0})", _SUM, wants="n", aggregate=True),
    "avg": Function("avg({0})", _AVERAGE, wants="n", aggregate=True),
    "mean": Function("avg({0})", _AVERAGE, wants="n", aggregate=True),
    "min": Function("min({0})", _FIRST, aggregate=True),
    "max": Function("max({0})", _FIRST, aggregate=True),
    "median": Function("median({0})", _MEDIAN, wants="n", aggregate=True),
    "bool_and": Function("bool_and({0})", t.TRUTH, aggregate=True),
    "bool_or": Function("bool_or({0})", t.TRUTH, aggregate=True),
    "string_agg": Function("", t.TEXT, 2, 2, "st", aggregate=True),
    "grouping": Function("grouping({0})", _INT, aggregate=True),
    **{
        name: Function(f"{spark}({{0}})", t.DOUBLE, wants="f", aggregate=True)
        for name, spark in {
            "stddev": "stddev_samp",
            "stddev_samp": "stddev_samp",
            "stddev_pop": "stddev_pop",
            "var": "var_samp",
            "var_samp": "var_samp",
            "var_sample": "var_samp",
            "var_pop": "var_pop",
            "var_population": "var_pop",
        }.items()
    },
    "corr": Function("corr({all})", t.DOUBLE, 2, 2, "ff", aggregate=True),
    "covar": Function("covar_samp({all})", t.DOUBLE, 2, 2, "ff", aggregate=True),
    "covar_samp": Function("covar_samp({all})", t.DOUBLE, 2, 2, "ff", aggregate=True),
    "covar_pop": Function("covar_pop({all})", t.DOUBLE, 2, 2, "ff", aggregate=True),
    # --- windows
    "row_number": Function("row_number()", t.LONG, 0, 0, window=True),
    "rank": Function("rank()", t.LONG, 0, 0, window=True),
    "dense_rank": Function("dense_rank()", t.LONG, 0, 0, window=True),
    "percent_rank": Function("percent_rank()", t.DOUBLE, 0, 0, window=True),
    "cume_dist": Function("cume_dist()", t.DOUBLE, 0, 0, window=True),
    "ntile": Function("ntile({0})", t.LONG, wants="p", window=True, plain=True),
    "lag": Function("lag({all})", _FIRST, 1, 2, ".w", window=True, plain=True),
    "lead": Function("lead({all})", _FIRST, 1, 2, ".w", window=True, plain=True),
    "first_value": Function("first_value({0})", _FIRST, window=True),
    "last_value": Function("last_value({0})", _FIRST, window=True),
    "nth_value": Function("nth_value({all})", _FIRST, 2, 2, ".p", window=True, plain=True),
}
"""Functions by their DataFusion names."""
