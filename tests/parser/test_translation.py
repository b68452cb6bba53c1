"""Statements of other dialects: what is translated, positions of errors, and texts that are meant to do harm."""

from __future__ import annotations

import subprocess
import sys
import time
from contextlib import suppress

import pytest

from pinakes.core.errors import NotSupportedError, ParseError, PinakesError
from pinakes.parser import classify_dialect
from pinakes.parser.translation.positions import place_of
from pinakes.parser.translation.read import tokens_of
from tests.engine.support import an_engine


def text(sql: str, dialect: str = "trino") -> str:
    return classify_dialect(sql, dialect).text


@pytest.mark.parametrize(
    "sql",
    [
        "SHOW CATALOGS",
        "ATTACH 'a' AS b",
        "USE lake.a.b.c",
        "SET engine = 'spark'",
        "CALL system.runtime.kill_query('x')",
        "BEGIN",
        "SELECT /* why */ a.b.c.d.e FROM q.w.e.r.t FOR VERSION AS OF 5",
        "EXPLAIN FULL SELECT x FROM t WHERE x > 1",
        "SELECT * FROM 'x.parquet' AS f",
        "CREATE TABLE t (a INT, b VARCHAR)",
    ],
)
@pytest.mark.parametrize("dialect", ["trino", "duckdb", "spark"])
def test_what_all_dialects_write_alike_stays_as_it_is_written(sql: str, dialect: str) -> None:
    assert text(sql, dialect) == sql


@pytest.mark.parametrize(
    ("dialect", "sql", "expected"),
    [
        (
            "duckdb",
            "INSERT INTO t (a) SELECT 1 / b AS c FROM s",
            "INSERT INTO t (a) SELECT CAST(1 AS DOUBLE) / b AS c FROM s",
        ),
        ("duckdb", "EXPLAIN FULL SELECT a / b AS c", "EXPLAIN FULL SELECT CAST(a AS DOUBLE) / b AS c"),
        ("duckdb", "COPY (SELECT a / b AS c) TO 'x.csv'", "COPY (SELECT CAST(a AS DOUBLE) / b AS c) TO 'x.csv'"),
        ("duckdb", "DELETE FROM t WHERE a / b > 1", "DELETE FROM t WHERE CAST(a AS DOUBLE) / b > 1"),
        ("duckdb", "SELECT * REPLACE (a / 2 AS a) FROM t", "SELECT * REPLACE (CAST(a AS DOUBLE) / 2 AS a) FROM t"),
        ("trino", "SELECT strpos(?, ?) AS a, ? AS b", "SELECT strpos($1, $2) AS a, $3 AS b"),
        ("trino", "SELECT position(? IN ?) AS a", "SELECT strpos($2, $1) AS a"),
        ("trino", "SELECT a FROM t ORDER BY a DESC", "SELECT a FROM t ORDER BY a DESC NULLS LAST"),
        ("spark", "SELECT `a b` FROM t ORDER BY a", 'SELECT "a b" FROM t ORDER BY a NULLS FIRST'),
        ("spark", 'SELECT /*+ ENGINE(spark) */ "x" AS a', "/*+ ENGINE(spark) */ SELECT 'x' AS a"),
    ],
)
def test_only_the_parts_that_differ_are_written_again(dialect: str, sql: str, expected: str) -> None:
    assert text(sql, dialect) == expected


def test_unnamed_columns_are_called_as_they_are_written() -> None:
    with an_engine() as engine:
        session = engine.session()
        session.run("SET dialect = 'duckdb'")
        assert session.run("SELECT 7/2, Count(*)").schema.names == ["7/2", "Count(*)"]


def test_an_arrow_is_a_lambda_or_json_by_its_place() -> None:
    sql = "SELECT list_transform(x, y -> y + 1) AS a, j -> 'k' AS b, list_filter(x, y -> (y -> 'k') = '1') AS c"
    expected = (
        "SELECT list_transform(x, y -> y + 1) AS a, (j -> 'k') AS b, list_filter(x, y -> ((y -> 'k')) = '1') AS c"
    )
    assert text(sql, "duckdb") == expected


# --- errors ------------------------------------------------------------------------------------------------------


def test_a_syntax_error_has_its_position() -> None:
    with pytest.raises(ParseError) as caught:
        text("SELECT a,\n  FROM WHERE")
    assert caught.value.position is not None
    assert caught.value.position.line == 2


def test_a_refused_function_has_its_position() -> None:
    with pytest.raises(NotSupportedError, match="the function try of Trino") as caught:
        text("SELECT a,\n  b + try(1)")
    assert caught.value.position is not None
    assert (caught.value.position.line, caught.value.position.column) == (2, 7)


def test_an_error_in_the_translated_text_is_moved_to_the_users_text() -> None:
    with pytest.raises(PinakesError) as caught:
        text("SELECT a / b FROM x POSITIONAL JOIN y", "duckdb")
    assert caught.value.position is not None
    assert caught.value.position.text[caught.value.position.column - 1 :].startswith("POSITIONAL")


def test_a_token_that_occurs_twice_has_no_position() -> None:
    sql = "SELECT f(a, b), a"
    tokens = tokens_of(sql, "trino")
    ours = "SELECT g(b, a), a"
    assert place_of(ours.index("b"), ours, tokens) == sql.index("b")
    assert place_of(ours.index("a)"), ours, tokens) is None
    assert place_of(ours.rindex("a"), ours, tokens) == sql.rindex("a")


def test_secrets_are_hidden_in_the_text_of_the_user() -> None:
    found = classify_dialect("SELECT 7 / 2 AS a FROM 's3://key:secret@bucket/x'", "duckdb")
    assert "secret" not in found.said
    assert found.shown != found.text  # so that it is not kept


def test_the_history_has_the_text_of_the_user() -> None:
    with an_engine() as engine:
        session = engine.session()
        session.run("SET dialect = 'duckdb'")
        session.run("SELECT 7 / 2 AS mine").read_all()
        rows = session.run("SELECT query FROM system.runtime.queries").read_all().to_pylist()
        assert "SELECT 7 / 2 AS mine" in [row["query"] for row in rows]


def test_one_text_has_a_plan_for_each_dialect() -> None:
    with an_engine() as engine:
        session = engine.session()
        session.run("CREATE TABLE t AS SELECT 7 AS x").read_all()
        found = []
        for dialect in ("pinakes", "duckdb", "trino", "duckdb", "pinakes"):
            session.run(f"SET dialect = '{dialect}'")
            found.append(session.run("SELECT x / 2 AS y FROM t").read_all().to_pylist()[0]["y"])
        assert found == [3, 3.5, 3, 3.5, 3]


# --- cost --------------------------------------------------------------------------------------------------------


def test_the_default_dialect_loads_no_translation() -> None:
    script = (
        "import sys, pinakes\n"
        "c = pinakes.connect(); c.execute('SELECT 1').fetchall()\n"
        "assert not [m for m in sys.modules if m.startswith('pinakes.parser.translation')]\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True, timeout=120)


@pytest.mark.parametrize("dialect", ["trino", "duckdb", "spark"])
@pytest.mark.parametrize(
    "sql",
    [
        "SELECT " + "/".join(["a"] * 390),
        "SELECT " + "greatest(" * 60 + "a" + ", b)" * 60,
        "SELECT " + "concat(" * 190 + "a" + ", b)" * 190,
        "SELECT " + "collect_list(" * 30 + "a" + ")" * 30,
        "SELECT a" + "::int" * 390,
        "SELECT " + "array_position(" * 40 + "a" + ", 1)" * 40,
        "SELECT '" + "\\" * 100_000,
        'SELECT "' + "a" * 100_000,
        "SELECT " + "array(" * 60 + "a" + ")" * 60,
        "SELECT * FROM a " + "JOIN b " * 40,
        "SELECT " + "- " * 2_000 + "a",
    ],
)
def test_hostile_texts_end_soon_and_stay_small(sql: str, dialect: str) -> None:
    start = time.process_time()
    with suppress(PinakesError):
        assert len(text(sql, dialect)) < 100 * len(sql)
    assert time.process_time() - start < 5
