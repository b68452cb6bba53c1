"""DataFusion 55 reads and writes texts of times otherwise than PostgreSQL: `parser/typed/texts.py` rewrites them."""

from __future__ import annotations

from typing import Any

import pytest
from datafusion import SessionContext

WRONG: list[tuple[str, Any]] = [
    ("CAST(TIMESTAMP '2024-01-01 00:00:01.5' AS VARCHAR)", "2024-01-01T00:00:01.500"),
    ("CAST(arrow_cast('14:42:04.35', 'Time64(Microsecond)') AS VARCHAR)", "14:42:04.350"),
    ("CAST('abc' AS VARCHAR(2))", "abc"),
    ("CAST(TIMESTAMP '2024-01-01T08:00:00+08' AS VARCHAR)", "2024-01-01T00:00:00"),
    ("CAST(DATE '2024-01-01' + CAST('2' AS INTERVAL) AS VARCHAR)", "2024-03-01"),
    ("TRY_CAST('11' AS TIME) IS NULL", False),
    ("CAST('[a]' AS VARCHAR[])", ["[a]"]),
    ("CAST(TIMESTAMP '2024-01-01 00:00:01.5' AS TIMESTAMP(0)) = TIMESTAMP '2024-01-01 00:00:01'", True),
    ("CAST(CAST('999999999999999.99999999' AS DECIMAL(38, 8)) AS DOUBLE)", 999999999999999.9),
    ("[1] || NULL", [1, None]),
    ("[NULL] < [1]", True),
    ("(SELECT l FROM (VALUES ([1]), ([NULL])) AS t (l) ORDER BY l NULLS FIRST LIMIT 1)", [None]),
    ("(SELECT max(s) FROM (VALUES ({'a': 1}), ({'a': NULL})) AS t (s))", {"a": 1}),
]


@pytest.mark.parametrize(("expression", "found"), WRONG)
def test_still_wrong(expression: str, found: object) -> None:
    """When one of these fails, its rule can go."""
    assert SessionContext().sql(f"SELECT {expression} AS x").to_pydict()["x"] == [found]


@pytest.mark.parametrize(
    ("type", "value", "condition"),
    [
        ("DECIMAL(10, 3)", "1.234", "CAST(x AS DECIMAL(10, 1)) <> 1.2"),
        ("BIGINT", "5000000000", "TRY_CAST(x AS INT) > 0"),
    ],
)
def test_casts_are_still_unwrapped(type: str, value: str, condition: str) -> None:
    """The condition is tested on the column instead of what it is cast to. `casts.may_lose` hides such a cast."""
    context = SessionContext()
    context.sql(f"CREATE TABLE t AS SELECT CAST({value} AS {type}) AS x").collect()
    assert context.sql(f"SELECT x FROM t WHERE {condition}").count() == 1
