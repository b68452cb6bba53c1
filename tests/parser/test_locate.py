"""Where columns are named, which tables they may come from, and what derived sources offer."""

from __future__ import annotations

import pytest

from pinakes.parser import classify, locate_references
from pinakes.parser.statements import ColumnRef, Planned


def columns(sql: str) -> list[ColumnRef]:
    statement = classify(sql)
    assert isinstance(statement, Planned)
    assert statement.parsed
    return list(locate_references(statement).columns)


def rendered(sql: str) -> list[str]:
    """Each reference as `text[tables]`, with `d` for derived and `x` for exposed."""
    flags = [(c, "d" * c.derived + "x" * c.exposed) for c in columns(sql)]
    return [f"{c.span.of(sql)}{list(c.tables)}{f}".replace(" ", "") for c, f in flags]


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT a, t.b FROM t", ["a[0]", "t.b[0]"]),
        ("SELECT a FROM t, u WHERE u.b = c", ["a[0,1]", "u.b[1]", "c[0,1]"]),
        ("SELECT x.a FROM t AS x", ["x.a[0]"]),
        ('SELECT a FROM t JOIN u USING (id, "Nm")', ["a[0,1]", "id[0,1]", '"Nm"[0,1]']),
        ("SELECT t.*, * FROM t", ["t.*[0]"]),
        ("SELECT * EXCLUDE (a) FROM t", ["a[0]"]),
        ("SELECT a.b.t.x FROM a.b.t, a.c.t", ["a.b.t.x[0,1]"]),
        ("SELECT c.a.b.t.x, c.a.b.t.* FROM c.a.b.t", ["c.a.b.t.x[0]", "c.a.b.t.*[0]"]),
        ("SELECT s.field.deeper FROM t", ["s.field.deeper[0]"]),
        ("SELECT x.s.field FROM t x, u", ["x.s.field[0]"]),
        ("SELECT arr[i].f, m['k'], f(v -> v + w) FROM t", ["arr[0]", "i[0]", "m[0]", "w[0]"]),
        ("SELECT {k: v}, CAST(a AS INT), EXTRACT(year FROM d) FROM t", ["v[0]", "a[0]", "d[0]"]),
        ("SELECT count(*) FROM t", []),
        ("SELECT 1", []),
        # scopes
        ("SELECT (SELECT max(z) FROM u WHERE u.k = t.k) FROM t", ["z[0,1]", "u.k[0]", "t.k[1]"]),
        ("SELECT * FROM t WHERE EXISTS (SELECT 1 FROM u WHERE a = b)", ["a[1,0]", "b[1,0]"]),
        ("SELECT a FROM (SELECT b FROM t) s, u", ["a[1]", "b[0]x"]),
        ("SELECT s.b, c FROM (SELECT b FROM t) s, u", ["s.b[]d", "c[1]", "b[0]x"]),
        ("SELECT B FROM (SELECT b FROM t) s, u", ["B[1]d", "b[0]x"]),
        ("SELECT a FROM (SELECT * FROM t) s", ["a[0]"]),
        ("SELECT a FROM (SELECT u.* FROM t, u) s", ["a[1]", "u.*[1]x"]),
        ("SELECT a FROM t, LATERAL (SELECT t.b FROM u) l", ["a[0]", "t.b[0]x"]),
        (
            "WITH c AS (SELECT Foo, x AS bar FROM t) SELECT foo, Bar, c.baz FROM c",
            ["Foo[0]x", "x[0]", "foo[]d", "Bar[]d", "c.baz[]"],
        ),
        ("WITH c(p, q) AS (SELECT a, b FROM t) SELECT P, a FROM c", ["a[0]x", "b[0]x", "P[]d", "a[]"]),
        (
            "WITH RECURSIVE c AS (SELECT n FROM t UNION ALL SELECT n + 1 FROM c) SELECT n FROM c",
            ["n[0]x", "n[]d", "n[]d"],
        ),
        ("SELECT v.a, b FROM (VALUES (1)) v(a), t", ["v.a[]d", "b[0]"]),
        ("SELECT g.x, y FROM generate_series(1, 2) g, t", ["g.x[]d", "y[0]"]),
        # aliases of the SELECT list, where they may be used
        ("SELECT a AS b FROM t WHERE b = 1 ORDER BY B", ["a[0]", "b[0]", "B[0]d"]),
        ("SELECT a AS b FROM t GROUP BY b HAVING b > 1", ["a[0]", "b[0]d", "b[0]d"]),
        ("SELECT a FROM t UNION SELECT b FROM u ORDER BY a", ["a[0]", "b[1]", "a[]d"]),
        # changes: the target is -1
        ("UPDATE t AS x SET a = x.b + s.c FROM s WHERE d = 1", ["x.b[-1]", "s.c[0]", "d[-1,0]"]),
        ("DELETE FROM t WHERE a IN (SELECT b FROM u)", ["a[-1]", "b[0,-1]"]),
        (
            "MERGE INTO t USING s ON t.k = s.k WHEN MATCHED AND c THEN UPDATE SET a = s.b WHEN NOT "
            "MATCHED THEN INSERT VALUES (s.d)",
            ["t.k[-1]", "s.k[0]", "c[-1,0]", "s.b[0]", "s.d[0]"],
        ),
        # statements around a query
        ("INSERT INTO z (q) SELECT a FROM t", ["a[0]"]),
        ("CREATE TABLE z AS SELECT a FROM t", ["a[0]"]),
        ("CREATE VIEW z AS SELECT a FROM t", ["a[0]"]),
        ("EXPLAIN ANALYZE SELECT a FROM t", ["a[0]"]),
        ("EXPLAIN DELETE FROM t WHERE a", ["a[-1]"]),
        ("SUMMARIZE SELECT a FROM t", ["a[0]"]),
        ("SUMMARIZE t", []),
        ("COPY (SELECT a FROM t) TO 'x'", ["a[0]"]),
        ("COPY t TO 'x'", []),
        ("SELECT a, current_database, :b FROM t FOR VERSION AS OF 1 x", ["a[0]"]),
    ],
)
def test_columns(sql: str, expected: list[str]) -> None:
    assert rendered(sql) == expected


def test_parts_of_a_reference() -> None:
    sql = 'SELECT `A`."b".c FROM t'
    (found,) = columns(sql)
    assert (str(found.name), [str(p) for p in found.qualifier]) == ("c", ['"A"', '"b"'])
    assert [s.of(sql) for s in found.spans] == ["`A`", '"b"', "c"]


def test_unread_statement_has_none() -> None:
    statement = classify("SELECT a FROM t FROB NOZZLE")
    assert isinstance(statement, Planned)
    assert locate_references(statement).columns == ()


def test_long_chains_are_climbed_once() -> None:
    assert len(columns("SELECT " + "a + " * 900 + "b FROM t")) == 901
