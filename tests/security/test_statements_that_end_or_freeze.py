"""Single statements that ended the process, or in which no other user was answered for many seconds.

They run in a process with 4 GB of address space. Those in which a type, a name or a plan was too large are refused
before DataFusion reads them: it can't be stopped, and Python's lock is held while it optimises a plan.
"""

from __future__ import annotations

import pyarrow as pa
import pytest

from pinakes.core.errors import NotSupportedError, ParseError
from pinakes.engine.statement_context import MOST_BYTES, _as
from pinakes.parser import classify
from tests.engine.support import an_engine
from tests.security.test_function_results_are_bounded import run

NESTED = "List(" * 10_000 + "Int32" + ")" * 10_000
COLUMNS = ", ".join(f"c{i}" for i in range(24))
REFUSED: list[object] = [
    f"SELECT arrow_cast(NULL, '{NESTED}')",
    f"SELECT * FROM range(3) WHERE arrow_try_cast(value, '{NESTED}') IS NULL",
    ["SELECT arrow_cast(NULL, $1)", [NESTED]],
    "SELECT " + "make_array(" * 150 + "1" + ")" * 150,
    "WITH c0 AS (SELECT 1 AS a)"
    + "".join(f", c{i} AS (SELECT struct(a) AS a FROM c{i - 1})" for i in range(1, 100))
    + " SELECT a FROM c99",
]
TOO_LARGE: list[object] = [
    "SELECT " + ", ".join(f"repeat('a', {60_000_000 + i}) AS c{i}" for i in range(100)),
    "SELECT " + ", ".join(f"repeat(repeat('a', 4000), {4_000 + i}) AS c{i}" for i in range(100)),
    "SELECT " + ", ".join(f"array_repeat(value + {i}, 2000) AS c{i}" for i in range(100)) + " FROM range(8192)",
]
LONG = ", ".join(f"repeat('{letter}', 200000) AS {letter}" for letter in "abcdefghij")
LENGTHS = " + ".join(f"length({letter})" for letter in "abcdefghij")
JOINED = ", ".join(f"$1 || '{i}' AS c{i}" for i in range(10))
GATHERED = [
    "CREATE TABLE wide AS SELECT repeat('a', 200000) AS s",
    "SELECT length(string_agg(s, ',')) FROM wide, range(20000)",
    "SELECT length(string_agg(s || value::TEXT, ',' ORDER BY value)) FROM wide, range(20000)",
    "SELECT cardinality(array_agg([s])) FROM wide, range(20000)",
    "SELECT length(string_agg(s, ',')) FROM wide, range(100)",
    "SELECT length(string_agg(s, ',')) FROM wide, range(100)",
]
ANSWERED: list[object] = [
    f"SELECT sum({LENGTHS} + value) FROM (SELECT 1 AS k, {LONG}) AS t JOIN range(3000) ON k = value % 2",
    ["SELECT " + ", ".join(f"$1 AS c{i}" for i in range(20)) + " FROM range(1)", ["a" * 200_000]],
    [f"SELECT count(*) FROM (SELECT {JOINED} FROM range(8192))", ["a" * 200_000]],
]


@pytest.mark.slow
def test_statements_that_ended_the_process() -> None:
    found = run([*REFUSED, *TOO_LARGE, *ANSWERED, "SELECT 1"], 60)
    codes = [answer.get("code", "rows") for answer in found]
    assert codes[: len(REFUSED)] == ["NOT_SUPPORTED"] * len(REFUSED), found
    assert codes[len(REFUSED) : len(REFUSED) + len(TOO_LARGE)] == ["OUT_OF_MEMORY"] * len(TOO_LARGE), found
    assert codes[len(REFUSED) + len(TOO_LARGE) :] == ["rows"] * (len(ANSWERED) + 1), found


@pytest.mark.slow
def test_aggregates_that_keep_all_values_are_bounded() -> None:
    found = run(GATHERED, 60)
    codes = [answer.get("code", "rows") for answer in found]
    assert {*codes[1:3]} <= {"OUT_OF_MEMORY", "EXECUTION_ERROR"}, found  # the latter: a column of more than 2 GB
    assert [codes[0], *codes[3:]] == ["rows"] * 4, found


def test_grouping_sets_are_counted_before_they_are_made() -> None:
    for groups in (f"CUBE({COLUMNS})", f"ROLLUP({COLUMNS}), ROLLUP({COLUMNS}), ROLLUP({COLUMNS})"):
        with pytest.raises(NotSupportedError, match="grouping sets"):
            classify(f"SELECT count(*) FROM t GROUP BY {groups}")
    classify("SELECT count(*) FROM t GROUP BY CUBE(a, b, c, d, e, f), ROLLUP(g, (h, i))")


def test_a_name_has_a_largest_length() -> None:
    with pytest.raises(ParseError, match="names may have"):
        classify(f"SELECT {'a' * 100_000}(1)")
    with pytest.raises(ParseError, match="names may have"):
        classify(f'SELECT "{"a" * 100_000}"')


def test_views_that_read_views_twice_do_not_grow_without_end() -> None:
    with an_engine() as engine:
        session = engine.session()
        session.run("CREATE VIEW lake.default.v0 AS SELECT 1 AS a")
        texts = [
            f"CREATE VIEW lake.default.v{i} AS " + " UNION ALL ".join([f"SELECT a FROM lake.default.v{i - 1}"] * 4)
            for i in range(1, 7)
        ]
        for text in texts[:4]:
            session.run(text)
        with pytest.raises(NotSupportedError, match="steps") as refused:
            list(map(session.run, texts[4:]))
        assert "CREATE TABLE" in refused.value.message


def test_texts_that_rows_share_are_copied_a_few_rows_at_a_time() -> None:
    rows = 100
    text = pa.array(["a" * 2_000_000] * rows, pa.string_view())
    batch = pa.record_batch({"s": text, "n": pa.array(range(rows))})
    schema = pa.schema([("s", pa.string()), ("n", pa.int64())])
    pieces = list(_as(batch, schema))
    assert all(piece.schema == schema and piece.nbytes <= MOST_BYTES * 1.1 for piece in pieces)
    assert [n for piece in pieces for n in piece.column(1).to_pylist()] == list(range(rows))
