"""What a plan asks of a placeholder scan: predicates are read from DataFusion once, and mean what the SQL means."""

from __future__ import annotations

import pyarrow as pa
import pytest
from datafusion import SessionContext

from pinakes.engine.explain.conditions import as_sql
from pinakes.engine.pushdown import scan_requests as requests
from pinakes.engine.pushdown.expressions import DEEPEST
from pinakes.engine.pushdown.placeholder_scan import Placeholder, placeholder_scan
from pinakes.engine.pushdown.predicate import (
    FALSE,
    TRUE,
    And,
    ColumnRef,
    Comparison,
    In,
    Literal,
    Or,
    Unknown,
    columns_in,
    conjuncts,
)

SCHEMA = pa.schema(
    [
        ("a", pa.int64()),
        ("b", pa.string_view()),
        ("f", pa.float64()),
        ("at", pa.timestamp("us")),
        ("s", pa.struct([("x", pa.struct([("y", pa.int32())]))])),
        ("t", pa.bool_()),
    ]
)


@pytest.fixture
def context() -> SessionContext:
    return SessionContext()


@pytest.fixture
def placeholder(context: SessionContext) -> Placeholder:
    found = placeholder_scan(SCHEMA, context)
    context.register_table("t", found.frame.into_view())
    return found


def asked(context: SessionContext, placeholder: Placeholder, sql: str) -> requests.ScanRequest:
    return requests.scan_requests(context.sql(sql).optimized_logical_plan(), [placeholder], context)[placeholder]


@pytest.mark.parametrize(
    ("condition", "shown"),
    [
        ("a = 5", "a = 5"),
        ("5 < a", "a > 5"),
        ("a <> 5 AND b >= 'x'", "a <> 5 AND b >= 'x'"),
        ("a = 1 OR b = 'x' OR f > 2.5", "a = 1 OR b = 'x' OR f > 2.5"),
        ("(a = 1 OR b = 'x') AND (a = 2 OR f > 2.5)", "(a = 1 OR b = 'x') AND (a = 2 OR f > 2.5)"),
        ("a IN (1, 2, 3, 4, 5)", "a IN (1, 2, 3, 4, 5)"),
        ("a NOT IN (1, 2, 3, 4, 5)", "a NOT IN (1, 2, 3, 4, 5)"),
        ("a BETWEEN 2 AND 4", "a >= 2 AND a <= 4"),
        ("b LIKE 'x_y%'", "b LIKE 'x_y%'"),
        ("b NOT ILIKE 'x!_%' ESCAPE '!'", "b NOT ILIKE 'x!_%' ESCAPE '!'"),
        ("b IS NULL", "b IS NULL"),
        ("(a > 5) IS NOT TRUE", "(a > 5) IS NOT TRUE"),
        ("a IS DISTINCT FROM 5", "a IS DISTINCT FROM 5"),
        ("t", "t"),
        ("NOT t", "NOT t"),
        ("nanvl(f, CAST('NaN' AS DOUBLE)) > 1.5", "f > 1.5"),
        ("s['x']['y'] = 3", "s['x']['y'] = 3"),
        ("CAST(at AS DATE) = DATE '2024-05-01'", "CAST(at AS DATE) = '2024-05-01'"),
        ("date_trunc('month', at) < TIMESTAMP '2024-05-01'", "date_trunc('month', at) < '2024-05-01T00:00:00'"),
        ("a + 1 > f * 2 - 3", "CAST(a + 1 AS DOUBLE) > f * 2.0 - 3.0"),
        ("-a > 3", "-a > 3"),
    ],
)
def test_predicates_are_read(context: SessionContext, placeholder: Placeholder, condition: str, shown: str) -> None:
    (scan,) = asked(context, placeholder, f"SELECT a FROM t WHERE {condition}").scans or ()
    assert as_sql(scan.predicate) == shown


def test_an_expression_without_a_node_is_unknown(context: SessionContext, placeholder: Placeholder) -> None:
    sql = "SELECT a FROM t WHERE CASE a WHEN 1 THEN t WHEN 2 THEN NOT t ELSE b = 'x' END"
    found = asked(context, placeholder, sql).predicate
    assert isinstance(found, Unknown)
    assert "$scan" not in as_sql(found)


def test_a_deep_expression_is_read_to_a_depth(context: SessionContext, placeholder: Placeholder) -> None:
    deep = "a" + " + a" * (2 * DEEPEST)
    found = asked(context, placeholder, f"SELECT a FROM t WHERE {deep} > 3 AND a > 1").predicate
    assert Comparison(">", ColumnRef("a", relation=placeholder.name), Literal(pa.scalar(1))) in conjuncts(found)
    assert len(list(columns_in(found))) < 2 * DEEPEST


def test_a_long_chain_has_one_level(context: SessionContext, placeholder: Placeholder) -> None:
    chain = " OR ".join(f"(a > {i} AND b = 'x{i}')" for i in range(300))
    found = asked(context, placeholder, f"SELECT a FROM t WHERE {chain}").predicate
    assert isinstance(found, Or)
    assert len(found.parts) == 300
    assert all(isinstance(part, And) for part in found.parts)


QUERIES = [
    "SELECT a FROM t",
    "SELECT count(*) FROM t",
    "SELECT * FROM t WHERE a > 3 AND b LIKE 'x%'",
    "SELECT x.a FROM t AS x JOIN t AS y ON x.a = y.a WHERE x.a > 3 AND y.b = 'q'",
    "SELECT a FROM t WHERE b IN (SELECT b FROM t WHERE a = 4) UNION ALL SELECT a FROM t WHERE f < 0.5",
    "SELECT b, sum(a) FROM t WHERE at > TIMESTAMP '2024-01-01' GROUP BY b HAVING count(*) > 2 ORDER BY 2 LIMIT 3",
    "SELECT a, row_number() OVER (PARTITION BY b ORDER BY at) FROM t WHERE s['x']['y'] IS NOT NULL",
    "WITH RECURSIVE r AS (SELECT a FROM t WHERE a = 1 UNION ALL SELECT t.a FROM t JOIN r ON t.a = r.a + 1 WHERE t.t) "
    "SELECT * FROM r",
]


@pytest.mark.parametrize("sql", QUERIES)
def test_the_walk_finds_what_the_serialised_plan_has(
    context: SessionContext, placeholder: Placeholder, sql: str
) -> None:
    plan = context.sql(sql).optimized_logical_plan()
    walked = requests.scan_requests(plan, [placeholder], context)[placeholder].scans or ()
    whole = requests.serialized(plan, context)
    assert whole is not None
    serialised = list(requests._serialized_scans(whole, placeholder, context))
    assert walked
    assert sorted((str(s.predicate), sorted(s.columns or ())) for s in walked) == sorted(
        (str(s.predicate), sorted(s.columns or ())) for s in serialised
    )


def test_scans_within_expressions_are_found(context: SessionContext, placeholder: Placeholder) -> None:
    sql = "SELECT a FROM t WHERE a > (SELECT min(a) FROM t WHERE b = 'in')"
    found = asked(context, placeholder, sql)
    assert len(found.scans or ()) == 2
    assert found.columns == frozenset({"a", "b"})


def test_predicates_beside_rows_in_memory_are_found(context: SessionContext, placeholder: Placeholder) -> None:
    rows = context.from_arrow(pa.table({"k": [1, 2]})).into_view()
    context.register_table("rows", rows)
    found = asked(context, placeholder, "SELECT t.a FROM t JOIN rows ON t.a = rows.k WHERE b = 'x'")
    assert as_sql(found.predicate) == "b = 'x'"


def test_constants_on_the_other_side_of_a_join_are_a_predicate(
    context: SessionContext, placeholder: Placeholder
) -> None:
    sql = "SELECT t.a FROM t JOIN (VALUES ('x'), ('y')) v(k) ON {} WHERE a > 3"
    assert as_sql(asked(context, placeholder, sql.format("t.b = v.k")).predicate) == "a > 3 AND b IN ('x', 'y')"
    lower = as_sql(asked(context, placeholder, sql.format("lower(t.b) = v.k")).predicate)
    assert lower == "a > 3 AND lower(b) IN ('x', 'y')"
    left = sql.replace("JOIN", "LEFT JOIN")
    assert as_sql(asked(context, placeholder, left.format("t.b = v.k")).predicate) == "a > 3"


def test_a_cast_key_of_a_join_stays_a_cast(context: SessionContext, placeholder: Placeholder) -> None:
    """The text of a value is not the value: a source must not compare the column itself with it."""
    sql = "SELECT t.a FROM t JOIN (VALUES ('1'), ('2')) v(k) ON CAST(t.f AS VARCHAR) = v.k"
    found = asked(context, placeholder, sql).predicate
    assert not isinstance(found, In) or not isinstance(found.tested, ColumnRef)


@pytest.mark.parametrize(
    ("sql", "exact", "inexact"),
    [
        ("SELECT a FROM t LIMIT 5 OFFSET 2", 7, None),
        ("SELECT a FROM t WHERE b = 'x' LIMIT 5", 5, None),
        ("SELECT a FROM t WHERE b = 'x' AND random() < 0.5 LIMIT 5", None, None),
        ("SELECT a FROM t ORDER BY a LIMIT 5", None, None),
        ("SELECT a FROM t UNION ALL SELECT a FROM t LIMIT 5", None, None),
        ("SELECT a FROM t WHERE 1 = 0", 0, 0),
        ("EXPLAIN SELECT a FROM t WHERE b = 'x'", 0, 0),
    ],
)
def test_limits(
    context: SessionContext, placeholder: Placeholder, sql: str, exact: int | None, inexact: int | None
) -> None:
    found = asked(context, placeholder, sql)
    assert (found.limit(is_exact=True), found.limit(is_exact=False)) == (exact, inexact)


def test_what_is_not_read_asks_for_nothing(context: SessionContext, placeholder: Placeholder) -> None:
    found = asked(context, placeholder, "SELECT 1")
    assert (found.scans, found.columns, found.predicate) == ((), frozenset(), FALSE)
    assert requests.ScanRequest(None).predicate == TRUE
    assert requests.ScanRequest(None).columns is None


def test_a_placeholder_cannot_be_run(context: SessionContext, placeholder: Placeholder) -> None:
    with pytest.raises(Exception, match=r"(?i)parquet"):
        context.sql("SELECT a FROM t").collect()
