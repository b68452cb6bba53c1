"""Forms that DataFusion answers with wrong rows are refused; those beside them that it answers rightly are not."""

from __future__ import annotations

import pytest

from pinakes.core.errors import NotSupportedError
from pinakes.parser import classify

WRONG = [
    ("SELECT * FROM t FULL JOIN u USING (a)", "coalesce"),
    ("SELECT * FROM t FULL OUTER JOIN u USING (a)", "FULL JOIN … USING"),
    ("SELECT * FROM t NATURAL FULL JOIN u", "NATURAL FULL JOIN"),
    ("SELECT a FROM x JOIN (SELECT a FROM t RIGHT JOIN u USING (a)) y ON true", "a LEFT JOIN with the two sides"),
    ("SELECT * FROM t NATURAL RIGHT JOIN u", "NATURAL RIGHT JOIN"),
    ("SELECT * FROM (t LEFT JOIN u USING (a))", "SELECT * over this LEFT JOIN … USING"),
    ("SELECT * EXCEPT (b) FROM t LEFT JOIN u USING (a)", "EXCEPT (…)"),
    ("SELECT * FROM t NATURAL LEFT JOIN (SELECT 1 AS a)", "SELECT * over this NATURAL LEFT JOIN"),
    ("WITH RECURSIVE r AS (SELECT 1 AS x UNION ALL SELECT x + 1 FROM r LIMIT 1) SELECT * FROM r", "after the query"),
    (
        "SELECT * FROM (WITH RECURSIVE r AS (SELECT 1 AS x UNION SELECT x + 1 FROM R OFFSET 1) SELECT * FROM r)",
        "after the query",
    ),
    ("CREATE VIEW v AS SELECT * FROM t FULL JOIN u USING (a)", "coalesce"),
]

RIGHT = [
    "WITH RECURSIVE r AS (SELECT 1 AS x UNION ALL SELECT x + 1 FROM r WHERE x < 5) SELECT * FROM r LIMIT 1",
    "WITH RECURSIVE r AS (SELECT 1 AS x UNION ALL SELECT 2 FROM t LIMIT 1) SELECT * FROM r",
    "SELECT * FROM t FULL JOIN u ON t.a = u.a",
    "SELECT * FROM t RIGHT JOIN u ON t.a = u.a",
    "SELECT * FROM t LEFT JOIN u USING (a) JOIN v USING (b)",
    "SELECT * FROM t NATURAL LEFT JOIN u",
    "SELECT * FROM t RIGHT SEMI JOIN u USING (a)",
    "SELECT right(a, 1) FROM t JOIN u USING (a)",
    "SELECT * FROM t WHERE a > ALL (SELECT b FROM u)",
    "SELECT * FROM t WHERE a > ALL (SELECT a FROM t AS other) OR b",
    "SELECT * FROM t WHERE a = ANY ([1, 2]) UNION ALL SELECT * FROM t",
    "SELECT * FROM t WHERE a NOT IN (1, 2) OR b",
    "SELECT * FROM t WHERE a NOT IN (SELECT a FROM t) AND (b OR c)",
    "SELECT * FROM t WHERE (b AND (NOT a IN (SELECT a FROM u)))",
    "SELECT * FROM t WHERE NOT (a IN (SELECT a FROM u) OR b)",
    "SELECT * FROM t WHERE NOT (a NOT IN (SELECT a FROM u) AND b)",
    "SELECT * FROM t WHERE a IN (SELECT a FROM u) OR b",
    "SELECT * FROM t WHERE (a IN (SELECT a FROM u)) IS NOT TRUE",
    "SELECT * FROM t WHERE CASE WHEN a IN (SELECT a FROM u) THEN true END",
    "SELECT * FROM t WHERE b OR EXISTS (SELECT 1 FROM u WHERE a NOT IN (SELECT a FROM v))",
    "SELECT t.a FROM t JOIN u ON t.a = u.a AND t.a NOT IN (SELECT a FROM v)",
    "SELECT b FROM t GROUP BY b HAVING b NOT IN (SELECT a FROM u)",
    "DELETE FROM t WHERE a NOT IN (SELECT a FROM u) AND b = 9",
]


@pytest.mark.parametrize(("sql", "advice"), WRONG)
def test_wrong_is_refused(sql: str, advice: str) -> None:
    with pytest.raises(NotSupportedError) as caught:
        classify(sql)
    assert advice in caught.value.message
    assert caught.value.position is not None


@pytest.mark.parametrize("sql", RIGHT)
def test_right_goes_through(sql: str) -> None:
    statement = classify(sql)
    assert getattr(statement, "parsed", False)
