"""What the matrix does with values: an operation is a template whose slots `{a}`, `{b}` … take operands.

Which types an operation takes is left to PostgreSQL: combinations that it does not know are no cases.
"""

from __future__ import annotations

from dataclasses import dataclass

from tests.semantics.operands import DATE, DECIMAL, DOUBLE, INT, KINDS, REAL, SMALL, TEXT, TIMESTAMP, TIMESTAMPTZ, Kind


@dataclass(frozen=True)
class Operation:
    name: str
    template: str
    slots: tuple[tuple[Kind, ...], ...] = (KINDS,)
    """The types of each operand."""
    same: tuple[int, ...] = ()
    """Operands that have the type of the operand whose number stands at their place from the second `KINDS` on."""
    close: bool = False
    """Whether the last digits of a double may differ, as they do between libraries of mathematical functions."""


def _pairs(**templates: str) -> list[Operation]:
    return [Operation(name, template, (KINDS, KINDS)) for name, template in templates.items()]


def _ones(**templates: str) -> list[Operation]:
    return [Operation(name, template) for name, template in templates.items()]


COMPARISONS = {"eq": "=", "ne": "<>", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}

OPERATIONS: tuple[Operation, ...] = (
    *_pairs(**{name: f"{{a}} {sign} {{b}}" for name, sign in COMPARISONS.items()}),
    *_pairs(
        distinct="{a} IS DISTINCT FROM {b}",
        not_distinct="{a} IS NOT DISTINCT FROM {b}",
        in_one="{a} IN ({b})",
        nullif="NULLIF({a}, {b})",
        coalesce="COALESCE({a}, {b})",
        greatest="GREATEST({a}, {b})",
        least="LEAST({a}, {b})",
        case_when="CASE WHEN {a} = {b} THEN 1 WHEN {a} < {b} THEN 2 WHEN {a} > {b} THEN 3 END",
        case_of="CASE {a} WHEN {b} THEN 'same' ELSE 'other' END",
        case_result="CASE WHEN {a} IS NULL THEN {a} ELSE {b} END",
        plus="{a} + {b}",
        minus="{a} - {b}",
        times="{a} * {b}",
        divide="{a} / {b}",
        modulo="{a} % {b}",
        append="{a} || {b}",
    ),
    Operation("in_four", "{a} IN ({b}, {c}, {d}, {e})", (KINDS, KINDS), same=(1, 1, 1)),
    Operation("not_in", "{a} NOT IN ({b}, {c})", (KINDS, KINDS), same=(1,)),
    Operation("between", "{a} BETWEEN {b} AND {c}", (KINDS, KINDS), same=(1,)),
    Operation("greatest_three", "GREATEST({a}, {b}, {c})", (KINDS,), same=(0, 0)),
    *_ones(
        negate="- {a}",
        is_null="{a} IS NULL",
        is_true="{a} IS TRUE",
        negation="NOT {a}",
        abs="abs({a})",
        round="round({a})",
        ceil="ceil({a})",
        floor="floor({a})",
        trunc="trunc({a})",
        sign="sign({a})",
        lower="lower({a})",
        upper="upper({a})",
        length="length({a})",
        char_length="char_length({a})",
        octet_length="octet_length({a})",
        trim="trim({a})",
        ltrim="ltrim({a})",
        rtrim="rtrim({a})",
        btrim="btrim({a}, 'x')",
        trim_both="trim(BOTH 'x' FROM {a})",
        reverse="reverse({a})",
        initcap="initcap({a})",
        ascii="ascii({a})",
        md5="md5({a})",
        concat="concat({a}, 'x')",
        concat_ws="concat_ws('-', {a}, 'x', {a})",
    ),
    *(Operation(name, f"{name}({{a}})", close=True) for name in ("sqrt", "exp", "ln", "log10", "sin", "atan", "cbrt")),
    Operation("power", "power({a}, {b})", (KINDS, KINDS), close=True),
    Operation("mod", "mod({a}, {b})", (KINDS, KINDS)),
    Operation("log", "log({a}, {b})", ((DECIMAL, DOUBLE), (DECIMAL, DOUBLE)), close=True),
    Operation("round_to", "round({a}, {b})", (KINDS, (SMALL,))),
    Operation("trunc_to", "trunc({a}, {b})", (KINDS, (SMALL,))),
    Operation("substring", "substring({a}, {b}, {c})", ((TEXT,), (SMALL,), (SMALL,))),
    Operation("substring_from", "substring({a} FROM {b})", ((TEXT,), (SMALL,))),
    Operation("substr", "substr({a}, {b})", ((TEXT,), (SMALL,))),
    Operation("left", "left({a}, {b})", ((TEXT,), (SMALL,))),
    Operation("right", "right({a}, {b})", ((TEXT,), (SMALL,))),
    Operation("lpad", "lpad({a}, {b}, {c})", ((TEXT,), (SMALL,), (TEXT,))),
    Operation("rpad", "rpad({a}, {b}, {c})", ((TEXT,), (SMALL,), (TEXT,))),
    Operation("lpad_two", "lpad({a}, {b})", ((TEXT,), (SMALL,))),
    Operation("repeat", "repeat({a}, {b})", ((TEXT,), (SMALL,))),
    Operation("replace", "replace({a}, {b}, {c})", ((TEXT,), (TEXT,), (TEXT,))),
    Operation("translate", "translate({a}, {b}, {c})", ((TEXT,), (TEXT,), (TEXT,))),
    Operation("position", "position({b} IN {a})", ((TEXT,), (TEXT,))),
    Operation("strpos", "strpos({a}, {b})", ((TEXT,), (TEXT,))),
    Operation("split_part", "split_part({a}, {b}, {c})", ((TEXT,), (TEXT,), (SMALL,))),
    Operation("starts_with", "starts_with({a}, {b})", ((TEXT,), (TEXT,))),
    Operation("like", "{a} LIKE {b}", ((TEXT,), (TEXT,))),
    Operation("chr", "chr({a})", ((SMALL,),)),
    Operation("to_hex", "to_hex({a})", ((INT, SMALL),)),
    *(
        Operation(f"date_trunc_{unit}", f"date_trunc('{unit}', {{a}})", ((DATE, TIMESTAMP, TIMESTAMPTZ),))
        for unit in ("year", "quarter", "month", "week", "day", "hour", "minute", "second")
    ),
    *(
        Operation(f"extract_{unit}", f"extract({unit} FROM {{a}})")
        for unit in (
            "year",
            "quarter",
            "month",
            "week",
            "day",
            "dow",
            "doy",
            "isodow",
            "hour",
            "minute",
            "second",
            "epoch",
        )
    ),
    *(
        Operation(f"date_part_{unit}", f"date_part('{unit}', {{a}})")
        for unit in ("year", "month", "day", "second", "epoch")
    ),
    *(Operation(f"cast_{kind.name}", f"CAST({{a}} AS {kind.sql})") for kind in KINDS if kind.name != "months"),
    Operation("cast_dec_small", "CAST({a} AS DECIMAL(4,1))"),
    Operation("cast_text_number", "CAST({a} AS VARCHAR) || ''", ((INT, DECIMAL, REAL, DOUBLE),)),
)

AGGREGATES: tuple[Operation, ...] = (
    *_ones(
        sum="sum({a})",
        min="min({a})",
        max="max({a})",
        count="count({a})",
        count_distinct="count(DISTINCT {a})",
        bool_and="bool_and({a})",
        bool_or="bool_or({a})",
        sum_plus="sum({a} + {a})",
        string_agg="string_agg({a}, '-' ORDER BY bit)",
    ),
    *(Operation(name, f"{name}({{a}})", close=True) for name in ("avg", "stddev", "stddev_pop", "variance", "var_pop")),
)
"""Over the rows of a column; an operand is always a column."""

FILTERS: tuple[Operation, ...] = (
    *_pairs(**{f"where_{name}": f"{{a}} {sign} {{b}}" for name, sign in COMPARISONS.items()}),
    Operation("where_in", "{a} IN ({b}, {c}, {d}, {e})", (KINDS, KINDS), same=(1, 1, 1)),
    Operation("where_not_in", "{a} NOT IN ({b}, {c})", (KINDS, KINDS), same=(1,)),
    Operation("where_between", "{a} BETWEEN {b} AND {c}", (KINDS, KINDS), same=(1,)),
    Operation("where_distinct", "{a} IS DISTINCT FROM {b}", (KINDS, KINDS)),
    *(
        Operation(f"where_cast_{kind.name}", f"CAST({{a}} AS {kind.sql}) = {{b}}", (KINDS, (kind,)))
        for kind in KINDS
        if kind.name not in ("months", "interval")
    ),
    Operation("where_plus", "{a} + {b} > {a}", (KINDS, KINDS)),
)
"""Conditions of WHERE over rows: `{a}` is a column, the others are literals or parameters, so that files are pruned."""

QUERIES: tuple[tuple[str, str, int], ...] = (
    ("join", "SELECT sum(l.bit * 1009 + r.bit) FROM many AS l JOIN many AS r ON l.{a} = r.{b}", 2),
    (
        "left_join",
        "SELECT sum(l.bit * 1009 + coalesce(r.bit, 0)) FROM many AS l LEFT JOIN many AS r ON l.{a} = r.{b}",
        2,
    ),
    ("in_select", "SELECT sum(bit) FROM many WHERE {a} IN (SELECT {b} FROM many WHERE {b} IS NOT NULL)", 2),
    ("union", "SELECT count(*) FROM (SELECT {a} AS x FROM many UNION SELECT {b} FROM many) AS u", 2),
    ("group", "SELECT sum(n * n) FROM (SELECT {a}, count(*) AS n FROM many GROUP BY {a}) AS g", 1),
    ("distinct_rows", "SELECT count(*) FROM (SELECT DISTINCT {a} FROM many) AS g", 1),
    (
        "order",
        "SELECT sum(bit * n) FROM (SELECT bit, row_number() OVER (ORDER BY {a}, bit) AS n FROM many) AS o",
        1,
    ),
    (
        "order_down",
        "SELECT sum(bit * n) FROM (SELECT bit, row_number() OVER (ORDER BY {a} DESC, bit) AS n FROM many) AS o",
        1,
    ),
    *(
        (
            f"moving_{name}",
            f"SELECT m FROM (SELECT bit, {name}({{a}}) OVER (ORDER BY bit DESC ROWS 1 PRECEDING) AS m FROM many) AS o "
            "WHERE bit = 1",
            1,
        )
        for name in ("sum", "avg", "stddev")
    ),
)
"""Whole queries over columns: how values are joined, grouped and sorted, and what is left of larger numbers when they
have left a frame."""
