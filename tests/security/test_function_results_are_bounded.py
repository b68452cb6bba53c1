"""Findings 9 and 13: a single call of a function can't take all memory, nor run far beyond the statement_timeout.

`SELECT range(0, 100000000000)` took 24 GB and ended the process; `repeat('a', 2000000000)` ran for 36 seconds under a
statement_timeout of 20. The statements run in a process with 4 GB of address space, which ends it if they take more.
"""

from __future__ import annotations

import json

import pytest

from tests.engine.support import PATIENCE, child

REFUSED = [
    "SELECT range(0, 100000000000)",
    "SELECT generate_series(1, 100000000000)",
    "SELECT range(TIMESTAMP '1970-01-01', TIMESTAMP '2200-01-01', INTERVAL '1 nanosecond')",
    "SELECT repeat('a', 2000000000)",
    "SELECT repeat(s, 2000000000) FROM (SELECT 'a' AS s)",
    "SELECT repeat('a', value) FROM range(2000000000, 2000000005)",
    "SELECT repeat(repeat(repeat('a', 10000), 10000), 10000)",
    "SELECT lpad('a', 2000000000)",
    "SELECT rpad('a', 2000000000, 'xyz')",
    "SELECT array_repeat(1, 100000000000)",
    "SELECT array_repeat(repeat('a', 1000000), 1000000)",
    "SELECT array_resize([1], 100000000000, 0)",
    "SELECT replace(repeat('a', 1000000), 'a', repeat('b', 100000))",
    "SELECT regexp_replace(repeat('a', 1000000), 'a', repeat('b', 100000), 'g')",
    "SELECT array_to_string(range(0, 1000000), repeat('a', 100000))",
    "SELECT concat(repeat('a', 100000000), repeat('a', 100000000), repeat('a', 100000000))",
    "SELECT to_char(now(), repeat('%c', 60000000))",
    f"SELECT to_char(now() + value * INTERVAL '1 day', '{'%c' * 50_000}') FROM range(8192)",
    "SELECT levenshtein(repeat('a', 100000), repeat('b', 100000))",
    "SELECT approx_percentile_cont(value, 0.5, 100000000000) FROM range(10)",
    "WITH RECURSIVE r AS (SELECT 1 AS i, [1, 2] AS s UNION ALL SELECT i + 1, array_concat(s, s) FROM r WHERE i < 40) "
    "SELECT max(cardinality(s)) FROM r",
]
ANSWERED = [
    "SELECT repeat('ab', 3), repeat('a', -1), repeat(NULL, 2), lpad('abc', 2), lpad('7', 3, '0'), rpad('é', 3, 'ü')",
    "SELECT range(3), generate_series(1, 3), range(5, 0, -2), array_repeat('x', 2), array_resize([1, 2], 4, 9)",
    "SELECT length(repeat('a', 100000000))",
    "SELECT 1",
]


def run(statements: list[object], timeout: float) -> list[dict[str, object]]:
    process = child("-m", "tests.security.hostile_child", "4", str(timeout), stdin=-1)
    try:
        out, err = process.communicate(json.dumps(statements), timeout=PATIENCE * 10)
    finally:
        process.kill()
    assert process.returncode == 0, f"ended with {process.returncode}: {err[-2000:]}"
    return [json.loads(line) for line in out.splitlines()]


@pytest.mark.slow
def test_calls_with_large_results_are_refused() -> None:
    parameters = [["SELECT repeat('a', $1)", [2_000_000_000]], ["SELECT range(0, $1)", [100_000_000_000]]]
    found = run([*REFUSED, *parameters, *ANSWERED], 60)
    refused, answered = found[: len(REFUSED) + 2], found[len(REFUSED) + 2 :]
    codes = {str(sql): answer.get("code") for sql, answer in zip([*REFUSED, *parameters], refused, strict=True)}
    assert set(codes.values()) == {"OUT_OF_MEMORY"}, codes
    assert "memory_limit" in str(refused[0]["message"])
    assert [answer.get("rows") for answer in answered] == [1] * len(ANSWERED), answered


@pytest.mark.slow
def test_functions_that_cannot_be_bounded_are_refused() -> None:
    refused: list[object] = [
        "SELECT array_agg(value) OVER () FROM range(10)",
        "SELECT arrow_cast(upper('a'), 'LargeUtf8')",
        "SELECT arrow_cast([1], 'FixedSizeList(2000000000, Int64)')",
        "SELECT arrow_cast(NULL, 'FixedSizeList( 1000000000 , Int64)')",
        "SELECT CAST(NULL AS BIGINT[2000000000])",
        ["SELECT arrow_cast([1], $1)", ["FixedSizeList(2000000000, Int64)"]],
        "SELECT arrow_cast([1], $$FixedSizeList(2000000000, Int64)$$)",
    ]
    found = run([*refused, "SELECT arrow_cast(NULL, 'FixedSizeBinary(2000000000)')", "SELECT 1"], 60)
    codes = [answer.get("code", "rows") for answer in found]
    assert codes == [*["NOT_SUPPORTED"] * len(refused), "OUT_OF_MEMORY", "rows"]


@pytest.mark.long
@pytest.mark.parametrize(
    "sql",
    [
        "SELECT string_agg(repeat('a', 1000), ',') FROM range(100000000)",
        "SELECT array_agg(value) FROM range(10000000000)",
        "SELECT * FROM generate_series(1, 1000000000000) ORDER BY value DESC",
        "SELECT count(*) FROM (SELECT unnest(range(0, 30000000)) AS a, 'x' AS b)",
        "SELECT unnest(range(0, 30000000)), repeat('a', 1000000)",
        "WITH RECURSIVE r AS (SELECT 1 AS i, 'abcdefgh' AS s UNION ALL SELECT i + 1, s || s FROM r WHERE i < 40) "
        "SELECT max(length(s)) FROM r",
        "SELECT count(*) FROM range(1000000) a, range(1000000) b, range(1000000) c",
        "SELECT 'aaaaaaaaaaaaaaaaaaaaaaaaa' ~ '((((a{1,100}){1,100}){1,100}){1,100})'",
        "SELECT to_char(DATE '2020-01-01', repeat('%c', 1000000))",
    ],
)
def test_hostile_queries_end_and_leave_the_engine_usable(sql: str) -> None:
    found = run([sql, "SELECT 1"], 5)
    assert len(found) == 2
    assert found[0].get("rows") == 1 or found[0]["code"] in ("OUT_OF_MEMORY", "QUERY_TIMEOUT", "EXECUTION_ERROR")
    assert found[1]["rows"] == 1
