"""DataFusion 55 gives NaN or an infinity where PostgreSQL reports that an argument is outside of a function's domain.
`engine/datafusion/checked_functions.py` has functions of the same names that report it (tests/sql/functions.slt).

A test that fails shows that DataFusion reports it by itself: remove that function there.
"""

from __future__ import annotations

import math

import pytest
from datafusion import SessionContext


@pytest.mark.parametrize(
    "call",
    ["ln(0)", "ln(-1)", "log2(0)", "log10(0)", "log(2, 0)", "exp(1000)", "power(-2, 0.5)"]
    + [f"{name}(CAST('Infinity' AS DOUBLE))" for name in ("sin", "cos", "tan")]
    + [f"{name}(2)" for name in ("asin", "acos", "atanh")],
)
def test_datafusion_still_gives_no_error(call: str) -> None:
    found = SessionContext().sql(f"SELECT {call} AS x").to_pylist()[0]["x"]
    assert not math.isfinite(found)


def test_datafusion_still_divides_doubles_by_zero() -> None:
    found = SessionContext().sql("SELECT CAST(1 AS DOUBLE) / CAST(0 AS DOUBLE) AS x").to_pylist()[0]["x"]
    assert math.isinf(found)


def test_datafusion_still_gives_whole_seconds() -> None:
    found = SessionContext().sql("SELECT date_part('second', TIMESTAMP '2024-01-01 10:20:30.5') AS x").to_pylist()
    assert found == [{"x": 30}]
