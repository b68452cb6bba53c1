"""`engine/datafusion/workarounds/correlated_subqueries.py`"""

from __future__ import annotations

import pytest
from datafusion import SessionContext

from pinakes.core.errors import NotSupportedError
from pinakes.engine.datafusion.workarounds.correlated_subqueries import refuse_unread
from tests.workarounds.bare import answer

ALL = [(n,) for n in range(1, 7)]

WRONG = {
    "an aggregate in EXISTS": ("SELECT id FROM a WHERE EXISTS (SELECT sum(k) FROM b WHERE b.k = a.k)", ALL),
    "an aggregate in IN": ("SELECT id FROM a WHERE 0 IN (SELECT count(*) FROM b WHERE b.k = a.k)", [(3,), (5,), (6,)]),
    "HAVING": (
        "SELECT id, (SELECT 5 FROM b WHERE b.k = a.k HAVING count(*) = 0) FROM a WHERE id > 4",
        [(5, 5), (6, 5)],
    ),
    "HAVING in LATERAL": (
        "SELECT id FROM a, LATERAL (SELECT count(*) AS n FROM b WHERE b.k = a.k HAVING count(*) > 0) AS q",
        [(1,), (2,), (4,)],
    ),
    "OFFSET": ("SELECT id FROM a WHERE EXISTS (SELECT 1 FROM b WHERE b.k = a.k OFFSET 1)", [(1,), (4,)]),
    "a window": (
        "SELECT id FROM a, LATERAL (SELECT row_number() OVER (ORDER BY y) AS n FROM b WHERE b.k = a.k) AS q "
        "WHERE n = 1",
        [(1,), (2,), (4,)],
    ),
    "an outer join": ("SELECT id FROM a WHERE EXISTS (SELECT 1 FROM b LEFT JOIN f ON f.id = a.k)", ALL),
    "a part of an outer join": (
        "SELECT id, (SELECT count(*) FROM b LEFT JOIN (SELECT id FROM f WHERE f.id = a.k) AS q ON q.id = b.id) FROM a "
        "WHERE id > 4",
        [(5, 5), (6, 5)],
    ),
    "DISTINCT in LATERAL": (
        "SELECT id FROM a, LATERAL (SELECT DISTINCT 1 AS one FROM b WHERE b.k < a.k) AS q",
        [(2,), (5,)],
    ),
    "ROLLUP": ("SELECT id FROM a WHERE EXISTS (SELECT y FROM b WHERE b.k = a.k GROUP BY ROLLUP (y))", ALL),
    "NOT IN of a constant": ("SELECT id FROM a WHERE 4 NOT IN (SELECT k FROM b)", []),
    "NOT IN with its own condition": (
        "SELECT id FROM a WHERE x NOT IN (SELECT k FROM b WHERE b.k = a.x)",
        ALL,
    ),
}


@pytest.mark.parametrize("what", WRONG)
def test_it_is_still_answered_wrongly(what: str) -> None:
    sql, right = WRONG[what]
    assert answer(sql) != right, "this is right now: it need not be refused"


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM (SELECT count(*) AS c FROM t) AS q WHERE c BETWEEN NULL AND 7",
        "SELECT (SELECT 5 FROM t) IS NULL",
        "SELECT count(*) FROM t HAVING (SELECT max(n) FROM t) > 100",
        "SELECT n FROM t WHERE (n, n) < (5, 8)",
    ],
)
def test_what_can_not_be_rewritten_is_refused_by_its_plan(sql: str) -> None:
    context = SessionContext()
    context.sql("CREATE TABLE t (n INT)").collect()
    with pytest.raises(NotSupportedError):
        refuse_unread(context.sql(sql).logical_plan())
    refuse_unread(context.sql("SELECT n, count(*) FROM t GROUP BY n HAVING count(*) > 1").logical_plan())
