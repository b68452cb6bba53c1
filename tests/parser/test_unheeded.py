"""Clauses that DataFusion would read and not heed are refused; names that are spelled like them go through."""

from __future__ import annotations

import pytest

from pinakes.core.errors import NotSupportedError
from pinakes.parser import classify
from pinakes.parser.statements import Query

UNHEEDED = [
    ("SELECT count(*) FROM t TABLESAMPLE (10)", "random()"),
    ("SELECT count(*) FROM a.t AS x TABLESAMPLE BERNOULLI (10 ROWS) WHERE i > 5", "random()"),
    ("SELECT * FROM (SELECT 1) x TABLESAMPLE SYSTEM (1) REPEATABLE (3)", "Leave REPEATABLE out"),
    ("SELECT * FROM t SAMPLE 0.1", "random()"),
    ("SELECT * FROM t SAMPLE ROW (10)", "random()"),
    ("WITH x AS (SELECT * FROM t TABLESAMPLE (?)) SELECT * FROM x", "random()"),
    ("INSERT INTO u SELECT * FROM t TABLESAMPLE (10)", "random()"),
    ("CREATE TABLE u AS SELECT * FROM t TABLESAMPLE (10)", "random()"),
    ("CREATE VIEW v AS SELECT * FROM t TABLESAMPLE (10)", "random()"),
    ("SELECT i FROM t PREWHERE i = 1", "WHERE"),
    ("SELECT i FROM t PREWHERE (i = 1) WHERE p", "WHERE"),
    ("SELECT i FROM t CONNECT BY PRIOR i = p", "RECURSIVE"),
    ("SELECT i FROM t START WITH i = 1", "RECURSIVE"),
    ("SELECT p, count(*) FROM t GROUP BY p WITH ROLLUP", "GROUP BY ROLLUP (…)"),
    ("SELECT p, count(*) FROM t GROUP BY p WITH CUBE ORDER BY p", "GROUP BY CUBE (…)"),
    ("SELECT p, count(*) FROM t GROUP BY p WITH TOTALS", "GROUPING SETS"),
    ("SELECT * FROM generate_series(1, 3) WITH ORDINALITY", "row_number()"),
    ("SELECT * ILIKE 'a%' FROM t", "EXCLUDE"),
    ("SELECT i, t.* ILIKE 'a%' FROM t", "EXCLUDE"),
    ("SELECT count(DISTINCT *) FROM t", "SELECT DISTINCT *"),
    ("SELECT count(DISTINCT t.*) FROM t", "SELECT DISTINCT *"),
    ("SELECT s FROM t WHERE s NOT SIMILAR TO s || '%'", "regexp_like"),
    ("SELECT i FROM t FOR UPDATE", "locks nothing"),
    ("SELECT i FROM t FOR SHARE NOWAIT", "locks nothing"),
    ("SELECT count(*) FROM t@main", "FOR VERSION AS OF"),
    ('SELECT count(*) FROM a."t"@main AS x', "FOR VERSION AS OF"),
    ("SELECT count(*) OVER (w ORDER BY i) FROM t WINDOW w AS (PARTITION BY p)", "write PARTITION BY"),
    ('SELECT count(*) OVER ("order") FROM t WINDOW "order" AS (PARTITION BY p)', "write PARTITION BY"),
    ("SELECT count(*) OVER w FROM t WINDOW v AS (ORDER BY (i)), w AS (v ROWS 1 PRECEDING)", "write PARTITION BY"),
    ("SELECT count(*) OVER w FROM t WINDOW w AS v, v AS (ORDER BY i)", "write PARTITION BY"),
    ("SELECT INTERVAL '1.5' MINUTE", "INTERVAL '1.5 minutes'"),
    ("SELECT INTERVAL '1.5' WEEKS", "INTERVAL '1.5 minutes'"),
    ("SELECT INTERVAL 3 DECADES", "INTERVAL '1.5 minutes'"),
    ("SELECT a + interval '-.5' day FROM t", "INTERVAL '1.5 minutes'"),
    ("SELECT 2^3", "power(a, b)"),
    ("SELECT a FROM t WHERE a ^ b > 1", "power(a, b)"),
    (f"SELECT grouping({', '.join(['p'] * 32)}) FROM t GROUP BY p", "31"),
]

NAMES = [
    "SELECT sample, tablesample, prewhere, connect, start, totals FROM t",
    "SELECT i sample, p prewhere FROM t ORDER BY prewhere DESC",
    "SELECT sample (10) FROM t",
    "SELECT * FROM t AS tablesample (a, b)",
    "SELECT * FROM t WHERE prewhere = 1 AND start < 2",
    "WITH rollup AS (SELECT 1), cube (a) AS (SELECT 2) SELECT * FROM rollup, cube",
    "SELECT p FROM t GROUP BY ROLLUP (p)",
    "SELECT * EXCEPT (a) FROM t",
    "SELECT p FROM t EXCEPT SELECT p FROM u UNION ALL SELECT 1",
    "SELECT 2 * ilike, a ILIKE 'b' FROM t",
    "SELECT count(DISTINCT a * 2), count(DISTINCT t.a) FROM t",
    "SELECT DISTINCT * FROM t",
    "SELECT substring(a FROM 1 FOR share) FROM t",
    "SELECT * FROM t FOR VERSION AS OF 'main'",
    "SELECT 'a@b', a @> b FROM t",
    "SELECT count(*) OVER (), sum(i) OVER (PARTITION BY p ORDER BY i ROWS 1 PRECEDING), over FROM t",
    "SELECT count(*) OVER w, sum(i) OVER v FROM t WINDOW v AS (ORDER BY (i)), w AS (ROWS 1 PRECEDING), x AS ()",
    "SELECT INTERVAL '1.0' DAY, INTERVAL '1.5' SECOND, INTERVAL '1.5 days', interval '2' day, '1.5' AS minute FROM t",
    "SELECT 'a^b', \"a^b\", a ^@ 'b' FROM t",
    "SELECT window, over (a) FROM t AS window",
    f"SELECT grouping({', '.join(['p'] * 31)}) FROM t GROUP BY GROUPING SETS ((p), ({', '.join(['p'] * 40)}))",
]


@pytest.mark.parametrize(("sql", "advice"), UNHEEDED)
def test_unheeded_is_refused(sql: str, advice: str) -> None:
    with pytest.raises(NotSupportedError) as caught:
        classify(sql)
    assert advice in caught.value.message
    assert caught.value.position is not None


@pytest.mark.parametrize("sql", NAMES)
def test_names_go_through(sql: str) -> None:
    assert isinstance(classify(sql), Query)
