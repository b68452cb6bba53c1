"""What DataFusion still makes of frames whose start moves: where this fails, `moving_frames.py` can go."""

from __future__ import annotations

import math

import pytest
from datafusion import SessionContext

ROWS = "(VALUES (1, 1e0), (2, CAST('NaN' AS DOUBLE)), (3, 2e0), (4, 3e0)) AS t(k, x)"


@pytest.mark.parametrize("name", ["sum", "avg", "stddev", "var_pop"])
def test_nan_stays_when_its_row_has_left_the_frame(name: str) -> None:
    query = f"SELECT {name}(x) OVER (ORDER BY k ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS v FROM {ROWS} ORDER BY k"
    assert math.isnan(SessionContext().sql(query).to_pydict()["v"][3])


def test_digits_are_lost_when_a_large_number_has_left_the_frame() -> None:
    values = "(VALUES (1, 1e17), (2, 1e0), (3, 1e0)) AS t(k, x)"
    query = f"SELECT sum(x) OVER (ORDER BY k ROWS 1 PRECEDING) AS v FROM {values} ORDER BY k"
    assert SessionContext().sql(query).to_pydict()["v"][2] == 0  # 2
