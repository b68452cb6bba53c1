"""Forms that DataFusion's parser misreads: the text as it is handed on."""

from __future__ import annotations

import pytest

from pinakes.parser import classify
from pinakes.parser.statements import Planned


def repaired(sql: str) -> str:
    statement = classify(sql)
    assert isinstance(statement, Planned)
    text = statement.text
    for repair in reversed(statement.repairs):
        text = text[: repair.span.start] + repair.text + text[repair.span.end :]
    return text


DISTINCT_FROM = [
    ("SELECT 1 WHERE a IS DISTINCT FROM 5 AND b", "SELECT 1 WHERE (a IS DISTINCT FROM 5) AND b"),
    (
        "SELECT 1 WHERE x OR t.a+1 IS NOT DISTINCT FROM b-2 OR c",
        "SELECT 1 WHERE x OR (t.a+1 IS NOT DISTINCT FROM b-2) OR c",
    ),
    ("SELECT 1 WHERE NOT a IS DISTINCT FROM 5 AND b", "SELECT 1 WHERE NOT (a IS DISTINCT FROM 5) AND b"),
    ("SELECT 1 WHERE a NOT IN (1) IS DISTINCT FROM b AND c", "SELECT 1 WHERE (a NOT IN (1) IS DISTINCT FROM b) AND c"),
    ("SELECT a IS DISTINCT FROM b IS TRUE", "SELECT (a IS DISTINCT FROM b) IS TRUE"),
    (
        "SELECT a IS DISTINCT FROM b IS NOT DISTINCT FROM c AND d",
        "SELECT ((a IS DISTINCT FROM b) IS NOT DISTINCT FROM c) AND d",
    ),
    (
        "SELECT a BETWEEN 1 AND 2 IS DISTINCT FROM b BETWEEN 3 AND 4 AND c",
        "SELECT (a BETWEEN 1 AND 2 IS DISTINCT FROM b BETWEEN 3 AND 4) AND c",
    ),
    (
        "SELECT DISTINCT ON (x) a IS DISTINCT FROM b AND c, DISTINCT d",
        "SELECT DISTINCT ON (x) (a IS DISTINCT FROM b) AND c, DISTINCT d",
    ),
    (
        "SELECT count(DISTINCT a IS DISTINCT FROM f(x AND y) AND b)",
        "SELECT count(DISTINCT (a IS DISTINCT FROM f(x AND y)) AND b)",
    ),
    (
        "SELECT CASE WHEN a IS DISTINCT FROM CASE WHEN p AND q THEN 1 END AND b THEN 1 END",
        "SELECT CASE WHEN (a IS DISTINCT FROM CASE WHEN p AND q THEN 1 END) AND b THEN 1 END",
    ),
    ("SELECT j -> 'k' IS DISTINCT FROM 5 AND b", "SELECT (j -> 'k' IS DISTINCT FROM 5) AND b"),
    ("SELECT f(l, v -> v IS DISTINCT FROM 5 AND b)", "SELECT f(l, v -> (v IS DISTINCT FROM 5) AND b)"),
    ("DELETE FROM t WHERE a IS DISTINCT FROM 5 AND b", "DELETE FROM t WHERE (a IS DISTINCT FROM 5) AND b"),
    ("EXPLAIN SELECT a IS DISTINCT FROM :p AND b", "EXPLAIN SELECT (a IS DISTINCT FROM :p) AND b"),
]

SELECT_STAR = [
    ("FROM t", "SELECT * FROM t"),
    ("FROM t WHERE a ORDER BY b", "SELECT * FROM t WHERE a ORDER BY b"),
    ("TABLE t", "SELECT * FROM t"),
    ('TABLE a."B"', 'SELECT * FROM a."B"'),
    ("(table t)", "(SELECT * FROM t)"),
    ("FROM t UNION ALL BY NAME TABLE u", "SELECT * FROM t UNION ALL BY NAME SELECT * FROM u"),
    ("SELECT a FROM t EXCEPT FROM u", "SELECT a FROM t EXCEPT SELECT * FROM u"),
    ("SELECT a FROM (FROM t) x", "SELECT a FROM (SELECT * FROM t) x"),
    ("SELECT a FROM t WHERE a IN (TABLE u)", "SELECT a FROM t WHERE a IN (SELECT * FROM u)"),
    (
        "WITH a AS (FROM t), b(x) AS (TABLE u) FROM b",
        "WITH a AS (SELECT * FROM t), b(x) AS (SELECT * FROM u) SELECT * FROM b",
    ),
    ("INSERT INTO x TABLE t", "INSERT INTO x SELECT * FROM t"),
    ("CREATE TABLE x AS FROM t", "CREATE TABLE x AS SELECT * FROM t"),
    ("CREATE VIEW x AS TABLE t", "CREATE VIEW x AS SELECT * FROM t"),
    ("DELETE FROM x WHERE a IN (FROM t)", "DELETE FROM x WHERE a IN (SELECT * FROM t)"),
]

FETCHES = [
    ("SELECT a FROM t FETCH FIRST 2 ROWS ONLY", "SELECT a FROM t LIMIT 2 "),
    ("SELECT a FROM t FETCH NEXT ROW ONLY", "SELECT a FROM t LIMIT 1"),
    ("SELECT a FROM t OFFSET 1 ROWS FETCH FIRST ? ROWS ONLY", "SELECT a FROM t OFFSET 1 ROWS LIMIT ? "),
]


@pytest.mark.parametrize(("sql", "expected"), DISTINCT_FROM + SELECT_STAR + FETCHES)
def test_repair(sql: str, expected: str) -> None:
    assert repaired(sql) == expected


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT 1 WHERE a IS DISTINCT FROM 5",
        "SELECT 1 WHERE b AND a IS DISTINCT FROM 5 GROUP BY c HAVING d AND e",
        "SELECT a IS DISTINCT FROM 5 x, b AND c FROM t",
        "SELECT (a IS DISTINCT FROM 5) AND b",
        "SELECT 1 FROM t JOIN u ON a IS DISTINCT FROM b LEFT JOIN v ON c AND d",
        "SELECT DISTINCT a FROM t WHERE b AND c",
        "FROM t SELECT a",
        "SELECT a FROM t WHERE a IN (FROM u SELECT b)",
        "SELECT extract(year FROM a), trim(FROM b), substring(c FROM 2) FROM t",
        "WITH c AS (SELECT 1) SELECT * FROM c",
        "SELECT * FROM (VALUES (1), (2)) v",
        "SUMMARIZE t",
        "COPY t TO 'x'",
        "UPDATE t SET a = 1 FROM u WHERE t.b = u.b",
    ],
)
def test_what_is_read_rightly_stays(sql: str) -> None:
    assert repaired(sql) == sql
