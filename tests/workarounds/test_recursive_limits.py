"""DataFusion 55 forgets the LIMIT of a recursive query: `unsound.py` refuses it."""

from __future__ import annotations

from datafusion import SessionContext


def test_still_wrong() -> None:
    """When this fails, delete the refusal."""
    sql = "WITH RECURSIVE r AS (SELECT 1 AS x UNION ALL SELECT x + 1 FROM r WHERE x < 3 LIMIT 1) SELECT * FROM r"
    assert SessionContext().sql(sql).to_pydict() == {"x": [1, 2, 3]}
