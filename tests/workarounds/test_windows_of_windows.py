"""DataFusion 55 forgets the window that another one builds on: `unheeded.py` refuses these."""

from __future__ import annotations

import pytest
from datafusion import SessionContext

RIGHT = [1, 2, 1, 2]


@pytest.mark.parametrize(
    ("over", "window"),
    [("(w ORDER BY x)", "w AS (PARTITION BY y)"), ("w", "v AS (PARTITION BY y), w AS (v ORDER BY x)")],
)
def test_still_wrong(over: str, window: str) -> None:
    """When this fails, delete the refusal."""
    rows = "(VALUES (1, 1), (2, 1), (3, 2), (4, 2)) AS t (x, y)"
    found = SessionContext().sql(f"SELECT count(*) OVER {over} AS c FROM {rows} WINDOW {window} ORDER BY x")
    assert found.to_pydict()["c"] != RIGHT
