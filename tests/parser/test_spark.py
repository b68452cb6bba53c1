"""Texts for Spark: what is rewritten, what is refused, and that a wrong type is noticed. None of it needs a Spark."""

from __future__ import annotations

from decimal import Decimal

import pyarrow as pa
import pytest

from pinakes.core.errors import NotSupportedError
from pinakes.parser import classify
from pinakes.parser.hints import engine_hint
from pinakes.parser.spark.assignment import assigned_type
from pinakes.parser.spark.parameters import bound
from pinakes.parser.spark.translate import Key, Source, parts, translate

COLUMNS = {
    "k": pa.int32(),
    "l": pa.int64(),
    "q": pa.decimal128(15, 2),
    "x": pa.float64(),
    "s": pa.string(),
    "d": pa.date32(),
}


def source(key: Key) -> Source | None:
    return Source("`cat`.`ns`.`t`", COLUMNS) if key == ("lake", "s", "t") else None


def spark(expression: str) -> str:
    (found,) = parts(f'SELECT {expression} AS v FROM "lake"."s"."t"', source)
    return found


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ("k / 2", "(`t`.`k` DIV 2L)"),
        ("x / 2", "`t`.`x` / 2L"),
        ("1.5", "1.5BD"),
        ("1.5e0", "1.5e0D"),
        ("q > 0.5", "`t`.`q` > 0.5BD"),
        ("extract(DOW FROM d)", "(extract(dow FROM `t`.`d`) - 1)"),
        ("d - d", "CAST(datediff(`t`.`d`, `t`.`d`) AS BIGINT)"),
        ("d + INTERVAL '1 month'", "`t`.`d` + INTERVAL '1' MONTH"),
        ("strpos(s, 'b')", "instr(`t`.`s`, 'b')"),
        ("concat(s, k)", "concat(coalesce(`t`.`s`, ''), coalesce(CAST(`t`.`k` AS STRING), ''))"),
        ("substr(s, 2, 3)", "substring(`t`.`s`, 2, 3)"),
        ("K", "`t`.`k`"),
    ],
)
def test_what_differs_is_rewritten(ours: str, theirs: str) -> None:
    assert spark(ours) == theirs


@pytest.mark.parametrize(
    ("ours", "named"),
    [
        ("initcap(s)", "initcap"),
        ("s ~* 'x'", "~*"),
        ("k & 1", "&"),
        ("substr(s, 0, 2)", "substr"),
        ("s = k", "text with a number"),
        ("CAST(x AS VARCHAR)", "double"),
        ("regexp_like(s, '\\w')", "regexp_like"),
        ("row_number()", "row_number"),
        ("sum(l) OVER (ORDER BY k GROUPS BETWEEN 1 PRECEDING AND CURRENT ROW)", "GROUPS"),
        ("99999999999999999999", "99999999999999999999"),
    ],
)
def test_what_is_not_known_to_agree_is_refused_by_name(ours: str, named: str) -> None:
    with pytest.raises(NotSupportedError, match="Spark") as error:
        spark(ours)
    assert named in error.value.message


def test_nulls_have_their_place_in_every_order() -> None:
    text = translate('SELECT k FROM "lake"."s"."t" ORDER BY k, s DESC', source, None)
    assert text.endswith("ORDER BY `k` NULLS LAST, `t`.`s` DESC NULLS FIRST")


def test_the_planned_schema_is_what_comes_out_or_nothing() -> None:
    sql = 'SELECT k / 2 AS h FROM "lake"."s"."t"'
    assert "CAST(`c0` AS BIGINT)" in translate(sql, source, pa.schema([("h", pa.int64())]))
    with pytest.raises(NotSupportedError, match="column h"):
        translate(sql, source, pa.schema([("h", pa.float64())]))


@pytest.mark.parametrize("expression", ["q / NULL", "NULL / q"])
def test_a_decimal_may_be_divided_with_null(expression: str) -> None:
    schema = pa.schema([("v", COLUMNS["q"])])
    assert "CAST(`c0` AS DECIMAL(15,2))" in translate(f'SELECT {expression} AS v FROM "lake"."s"."t"', source, schema)


def test_a_table_stands_in_no_text() -> None:
    text = translate('SELECT \'`t$0`\' AS v, s FROM "lake"."s"."t" WHERE s = \'`t`\'', source, None)
    assert "'`t$0`'" in text
    assert "FROM `cat`.`ns`.`t` AS `t`" in text


@pytest.mark.parametrize(
    ("query", "theirs"),
    [
        (
            "PIVOT t ON s IN ('a') USING sum(q) GROUP BY k",
            "SELECT `t`.`k` AS `k`, sum(`t`.`q`) FILTER(WHERE (`t`.`s`) = 'a') AS `a` FROM `cat`.`ns`.`t` AS `t` "
            "GROUP BY `t`.`k`",
        ),
        (
            "PIVOT t ON s IN ('a') USING sum(q), count(x) AS n",
            "SELECT `t`.`k` AS `k`, `t`.`l` AS `l`, `t`.`d` AS `d`, sum(`t`.`q`) FILTER(WHERE (`t`.`s`) = 'a') AS "
            "`a_sum(q)`, count(`t`.`x`) FILTER(WHERE (`t`.`s`) = 'a') AS `a_n` FROM `cat`.`ns`.`t` AS `t` GROUP BY ALL",
        ),
        (
            "SELECT p.x FROM (SELECT k, l FROM t) AS v UNPIVOT INCLUDE NULLS (x FOR n IN (k AS 'K', l AS 'L')) AS p",
            "CROSS JOIN VALUES (1L), (2L) AS `$u0`(`$i0`)",
        ),
    ],
)
def test_written_out_forms_are_translated(query: str, theirs: str) -> None:
    text = classify(query).text.replace("FROM t", 'FROM "lake"."s"."t"')
    assert theirs in translate(text, source, None)


def test_unknown_tables_are_refused() -> None:
    with pytest.raises(NotSupportedError, match="other"):
        translate('SELECT 1 AS one FROM "lake"."s"."other"', source, None)


def test_parameters_become_constants() -> None:
    values = {"1": "it's", "2": -5, "3": Decimal("1.50"), "4": None, "5": True}
    assert bound("SELECT $1, $2, $3, $4, $5, '$1'", values) == (
        "SELECT 'it''s', (-5), CAST('1.50' AS DECIMAL(3, 2)), NULL, TRUE, '$1'"
    )


def test_values_go_into_columns_of_their_kind() -> None:
    assert assigned_type(pa.int64(), pa.int32(), "k") == "INT"
    assert assigned_type(pa.int64(), pa.decimal128(15, 2), "q") == "DECIMAL(15,2)"
    for given, column in (
        (pa.float64(), pa.int32()),
        (pa.string(), pa.date32()),
        (pa.decimal128(9, 3), pa.decimal128(9, 2)),
    ):
        with pytest.raises(NotSupportedError, match="CAST"):
            assigned_type(given, column, "c")


@pytest.mark.parametrize(
    ("text", "engine"),
    [
        ("SELECT /*+ ENGINE(spark) */ 1", "spark"),
        ("SELECT /*+ X(1), engine( Local ) */ 1", "local"),
        ("INSERT /*+ ENGINE(auto) */ INTO t SELECT 1", "auto"),
        ("SELECT '/*+ ENGINE(spark) */'", None),
        ("SELECT /* ENGINE(spark) */ 1", None),
        ("SELECT 1", None),
    ],
)
def test_hints(text: str, engine: str | None) -> None:
    assert engine_hint(text) == engine
