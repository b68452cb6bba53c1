"""DataFusion still orders DISTINCT values as another aggregate does: else `parser/workarounds/ordered_distincts.py` can
go.
"""

from __future__ import annotations

from datafusion import SessionContext


def test_distinct_values_have_the_order_of_another_aggregate() -> None:
    frame = SessionContext().sql(
        "SELECT array_agg(x ORDER BY x DESC) AS one, array_agg(DISTINCT x ORDER BY x) AS other "
        "FROM (VALUES (1), (2), (3)) AS t(x)"
    )
    assert frame.to_pydict()["other"] == [[3, 2, 1]]
