"""Functions that DataFusion 55 computes otherwise than PostgreSQL: `percentiles.py`, `regr_r2.py`, `maps.py`."""

from __future__ import annotations

import pytest
from datafusion import SessionContext

WRONG = [
    ("percentile_cont(0.8) WITHIN GROUP (ORDER BY x DESC)", "(VALUES (2), (1)) AS t (x)", [1.199999]),
    ("regr_r2(y, x)", "(VALUES (5, 1), (5, 2)) AS t (y, x)", [None]),
    ("map_extract(map(['a'], [1]), 'x')", "(VALUES (1))", [[None]]),
    ("signum(CAST('NaN' AS DOUBLE)) = 0", "(VALUES (1))", [False]),
    ("array_remove([1, 2, 1], 1)", "(VALUES (1))", [[2, 1]]),
    ("array_replace([1, 2, 1], 1, 9)", "(VALUES (1))", [[9, 2, 1]]),
    ("4 | 3 & 1", "(VALUES (1))", [5]),
]


@pytest.mark.parametrize(("expression", "source", "found"), WRONG)
def test_still_wrong(expression: str, source: str, found: list[object]) -> None:
    """When one of these fails, delete its module."""
    assert SessionContext().sql(f"SELECT {expression} AS x FROM {source}").to_pydict()["x"] == found


def test_keys_are_still_paired_with_values_of_other_rows() -> None:
    context = SessionContext()
    context.sql("CREATE TABLE m AS VALUES ([1, 2], [0]), ([3], [4, 9])").collect()
    assert context.sql("SELECT map(column1, column2) AS x FROM m").to_pydict()["x"] == [[(1, 0), (2, 4)], [(3, 9)]]
