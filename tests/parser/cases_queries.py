"""Queries: which tables they read, placeholders, session values, time travel; EXPLAIN around them."""

from __future__ import annotations

from typing import Any

QUERIES: list[tuple[str, str, dict[str, Any]]] = [
    ("SELECT 1", "Query", {"tables": [], "parsed": True}),
    ("PIVOT a ON b IN (1, 2) USING sum(c)", "Query", {"tables": ["a"]}),
    ("PIVOT a ON b USING sum(c)", "Pivot", {"answers": []}),
    ("EXPLAIN UNPIVOT a ON b, c", "Explain", {"tables": ["a"]}),
    ("  select 1 ;; ", "Query", {"text": "select 1"}),
    ("VALUES (1, 2), (3, 4)", "Query", {"tables": []}),
    ("FROM t", "Query", {"tables": ["t"]}),
    ("FROM t SELECT a", "Query", {"tables": ["t"]}),
    ("TABLE a.b", "Query", {"tables": ["a.b"]}),
    ("(SELECT * FROM a) UNION ALL (SELECT * FROM b)", "Query", {"tables": ["a", "b"]}),
    ("SELECT * FROM a, b AS x, c y", "Query", {"tables": ["a", "b x", "c y"]}),
    ("SELECT * FROM a JOIN b USING (id) LEFT JOIN c ON a.x = c.x", "Query", {"tables": ["a", "b", "c"]}),
    ("SELECT * FROM t -- , u\n/* , v */ WHERE a = ', w'", "Query", {"tables": ["t"]}),
    ("SELECT/**/*/**/FROM/**/t", "Query", {"tables": ["t"]}),
    ('SELECT * FROM "A b"."C""d" e', "Query", {"tables": ['"A b"."C""d" e']}),
    ("SELECT * FROM `a`.`b c`", "Query", {"tables": ['"a"."b c"']}),
    ("SELECT * FROM a . b", "Query", {"tables": ["a.b"]}),
    ("SELECT * FROM a.b.c.d.e.f x JOIN g.h", "Query", {"tables": ["a.b.c.d.e.f x", "g.h"]}),
    ("SELECT ünïcödé FROM täble", "Query", {"tables": ["täble"]}),
    ("SELECT '😀' FROM t WHERE a = '日本'", "Query", {"tables": ["t"]}),
    ("SELECT * FROM (a.b) x", "Query", {"tables": ["a.b x"]}),
    ("SELECT * FROM (t JOIN u ON true)", "Query", {"tables": ["t", "u"]}),
    (
        "SELECT (SELECT max(x) FROM u WHERE u.k = t.k) FROM t WHERE EXISTS (SELECT 1 FROM v)",
        "Query",
        {"tables": ["u", "t", "v"]},
    ),
    (
        "SELECT * FROM t WHERE a IN (SELECT b FROM u) AND c = ANY (SELECT d FROM v)",
        "Query",
        {"tables": ["t", "u", "v"]},
    ),
    ("SELECT * FROM (SELECT * FROM (SELECT * FROM t) a) b", "Query", {"tables": ["t"]}),
    ("SELECT * FROM t, LATERAL (SELECT t.a FROM u) l", "Query", {"tables": ["t", "u"]}),
    # functions are no tables; their arguments may hold some
    ("SELECT * FROM range(10)", "Query", {"tables": []}),
    ("SELECT * FROM generate_series(1, 2) g, t", "Query", {"tables": ["t"]}),
    # those that read files are, and what is within them is no column
    ("SELECT * FROM read_parquet('x.parquet'), t", "Query", {"tables": ["read_parquet", "t"]}),
    ("FROM read_csv(?, delim = ';', types => {'a': 'INT'}) r WHERE a = ?", "Query", {"tables": ["read_csv r"]}),
    ("SELECT * FROM unnest([1, 2]) u(x), t", "Query", {"tables": ["t"]}),
    ("SELECT * FROM (VALUES (1, 2)) v(a, b)", "Query", {"tables": []}),
    (
        "SELECT extract(year FROM d), substring(a FROM 1 FOR 2), trim(BOTH 'x' FROM b) FROM t",
        "Query",
        {"tables": ["t"]},
    ),
    ("SELECT a IS DISTINCT FROM b FROM t", "Query", {"tables": ["t"]}),
    # names of a WITH hide tables only where they are visible
    ("WITH x AS (SELECT * FROM a) SELECT * FROM x, b", "Query", {"tables": ["a", "b"]}),
    ("WITH x AS (SELECT * FROM x) SELECT * FROM x", "Query", {"tables": ["x"]}),
    ("WITH x AS (SELECT * FROM y), y AS (SELECT * FROM x) SELECT * FROM x, y", "Query", {"tables": ["y"]}),
    ("WITH RECURSIVE x AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM x) SELECT * FROM x", "Query", {"tables": []}),
    ("SELECT * FROM (WITH x AS (SELECT 1) SELECT * FROM x) s, x", "Query", {"tables": ["x"]}),
    ("WITH x AS (SELECT 1) SELECT * FROM (SELECT * FROM x WHERE a IN (SELECT b FROM x)) s", "Query", {"tables": []}),
    ('WITH x AS (SELECT 1) SELECT * FROM a.x, X, "X"', "Query", {"tables": ["a.x", '"X"']}),
    ("WITH a AS (WITH b AS (SELECT * FROM c) SELECT * FROM b) SELECT * FROM a, b", "Query", {"tables": ["c", "b"]}),
    # paths
    ("SELECT * FROM 'data/file.parquet'", "Query", {"tables": ['path:"data/file.parquet"']}),
    ("SELECT * FROM 'x.csv' AS f", "Query", {"tables": ['path:"x.csv" f']}),
    ("SELECT * FROM cat.`s3://b/t/`", "Query", {"tables": ['path:cat."s3://b/t/"']}),
    (
        'SELECT * FROM "./rel" a, "../up" b, "~/home" c, "/abs" d',
        "Query",
        {"tables": ['path:"./rel" a', 'path:"../up" b', 'path:"~/home" c', 'path:"/abs" d']},
    ),
    ('SELECT * FROM "s3://b/x".t', "Query", {"tables": ['"s3://b/x".t']}),
    # time travel
    ("SELECT * FROM t FOR VERSION AS OF 123", "Query", {"tables": ["t @version=123"]}),
    ("SELECT * FROM t VERSION AS OF 123 AS x, u", "Query", {"tables": ["t x @version=123", "u"]}),
    ("SELECT * FROM t FOR VERSION AS OF 'main' x", "Query", {"tables": ["t x @version='main'"]}),
    (
        "SELECT * FROM t FOR TIMESTAMP AS OF TIMESTAMP '2024-01-01' WHERE a",
        "Query",
        {"tables": ["t @timestamp=TIMESTAMP '2024-01-01'"]},
    ),
    (
        "SELECT * FROM t TIMESTAMP AS OF now() - INTERVAL '1' DAY u",
        "Query",
        {"tables": ["t u @timestamp=now() - INTERVAL '1' DAY"]},
    ),
    ("SELECT * FROM t FOR SYSTEM_VERSION AS OF 5", "Query", {"tables": ["t @version=5"]}),
    (
        "SELECT * FROM t FOR SYSTEM_TIME AS OF '2024-01-01'::timestamp AT TIME ZONE 'UTC'",
        "Query",
        {"tables": ["t @timestamp='2024-01-01'::timestamp AT TIME ZONE 'UTC'"]},
    ),
    ("SELECT * FROM a JOIN b FOR VERSION AS OF ? ON a.x = b.x", "Query", {"tables": ["a", "b @version=?"]}),
    ("SELECT version AS of FROM t", "Query", {"tables": ["t"]}),
    ("SELECT a.timestamp AS of, b FROM a", "Query", {"tables": ["a"]}),
    # placeholders
    (
        "SELECT ?, a FROM t WHERE b = ? AND c = '?'",
        "Query",
        {
            "placeholders": [
                {"": "Placeholder", "name": "1", "span": "?"},
                {"": "Placeholder", "name": "2", "span": "?"},
            ]
        },
    ),
    (
        "SELECT $1, $name, $2",
        "Query",
        {
            "placeholders": [
                {"": "Placeholder", "name": "1", "span": "$1"},
                {"": "Placeholder", "name": "name", "span": "$name"},
                {"": "Placeholder", "name": "2", "span": "$2"},
            ]
        },
    ),
    (
        "SELECT * FROM t WHERE a = :name AND b IN (:x,:y) LIMIT :n",
        "Query",
        {"placeholders": [{"": "Placeholder", "name": n, "span": ":" + n} for n in ("name", "x", "y", "n")]},
    ),
    ("SELECT a::int, {'k':v}, {k: w}, arr[1:n], arr[:n], doc:field, arr[a:b] FROM t", "Query", {"placeholders": []}),
    (
        "SELECT {'k': :v}, [:a], f(:b)",
        "Query",
        {"placeholders": [{"": "Placeholder", "name": n, "span": ":" + n} for n in ("v", "a", "b")]},
    ),
    ("SELECT $$a ? :b $1$$, $t$ ? $t$", "Query", {"placeholders": []}),
    # session values
    (
        "SELECT current_catalog, current_user()",
        "Query",
        {
            "values": [
                {"": "SessionValue", "name": "current_catalog", "span": "current_catalog", "alone": True},
                {"": "SessionValue", "name": "current_user", "span": "current_user()", "alone": True},
            ]
        },
    ),
    (
        "SELECT version() AS v, CURRENT_SCHEMA || 'x' FROM t",
        "Query",
        {
            "values": [
                {"": "SessionValue", "name": "version", "span": "version()"},
                {"": "SessionValue", "name": "current_schema", "span": "CURRENT_SCHEMA"},
            ]
        },
    ),
    (
        "SELECT * FROM t WHERE owner = session_user AND c = current_database",
        "Query",
        {
            "values": [
                {"": "SessionValue", "name": "current_user", "span": "session_user"},
                {"": "SessionValue", "name": "current_catalog", "span": "current_database"},
            ]
        },
    ),
    (
        'SELECT t.current_user, "current_user", version, 1 AS current_schema, 2 current_catalog FROM t',
        "Query",
        {"values": []},
    ),
    ("SELECT * FROM a, current_user", "Query", {"values": [], "tables": ["a", "current_user"]}),
    (
        "SELECT f(a, current_user), count(*) FROM t",
        "Query",
        {"values": [{"": "SessionValue", "name": "current_user", "span": "current_user"}]},
    ),
    # what only DataFusion can read still runs
    (
        "SELECT frob FROM t FROB NOZZLE :x",
        "Query",
        {"parsed": False, "tables": [], "placeholders": [{"": "Placeholder", "name": "x", "span": ":x"}]},
    ),
    # the dialect
    (
        "SELECT a ~ 'x', a !~* 'y', b @> c, a // 2, a <=> b, x -> 'k', [1, 2][1], m['k'] FROM t",
        "Query",
        {"parsed": True, "tables": ["t"]},
    ),
    ("SELECT * EXCLUDE (a) FROM t QUALIFY row_number() OVER (ORDER BY b) = 1", "Query", {"parsed": True}),
    ("SELECT DISTINCT ON (a) a, sum(b) FILTER (WHERE c) FROM t GROUP BY ALL", "Query", {"parsed": True}),
    ("SELECT E'it\\'s', 'a' 'b', x'AB', date'2020-01-01' FROM t", "Query", {"parsed": True}),
    (
        "EXPLAIN SELECT * FROM t",
        "Explain",
        {"body": "SELECT * FROM t", "tables": ["t"], "analyze": False, "verbose": False, "format": None},
    ),
    ("EXPLAIN ANALYZE VERBOSE SELECT 1", "Explain", {"analyze": True, "verbose": True, "body": "SELECT 1"}),
    ("EXPLAIN FORMAT tree SELECT 1", "Explain", {"format": "TREE"}),
    ("EXPLAIN (ANALYZE, FORMAT JSON) SELECT 1", "Explain", {"analyze": True, "format": "JSON", "body": "SELECT 1"}),
    ("EXPLAIN (SELECT 1)", "Explain", {"body": "(SELECT 1)"}),
    ("EXPLAIN INSERT INTO t SELECT * FROM u", "Explain", {"body": "INSERT INTO t SELECT * FROM u", "tables": ["u"]}),
    ("EXPLAIN FULL SELECT * FROM t", "ExplainFull", {"body": "SELECT * FROM t", "tables": ["t"], "analyze": False}),
    ("EXPLAIN ANALYZE FULL FORMAT JSON SELECT 1", "ExplainFull", {"analyze": True, "format": "JSON"}),
    ("EXPLAIN FORMAT JSON FULL SELECT 1", "ExplainFull", {"analyze": False, "format": "JSON"}),
    ("EXPLAIN (FULL, FORMAT JSON) SELECT 1", "ExplainFull", {"body": "SELECT 1", "analyze": False, "format": "JSON"}),
    ("EXPLAIN ANALYZE (FULL, FORMAT 'json') (SELECT 1)", "ExplainFull", {"body": "(SELECT 1)", "format": "JSON"}),
    ("EXPLAIN FULL (ANALYZE true) (SELECT 1)", "ExplainFull", {"analyze": True, "format": None}),
    ("EXPLAIN FULL INSERT INTO t SELECT a FROM s", "ExplainFull", {"tables": ["s"]}),
    ("EXPLAIN FULL SHOW TABLES", "ExplainFull", {"body": "SHOW TABLES", "tables": []}),
]
