"""DataFusion still does not heed ORDER BY within any_value: else `parser/workarounds/any_value_order.py` can go."""

from __future__ import annotations

from datafusion import SessionContext


def test_the_order_within_any_value_is_not_heeded() -> None:
    frame = SessionContext().sql("SELECT any_value(x ORDER BY x DESC) AS v FROM (VALUES (1), (2)) AS t(x)")
    assert frame.to_pydict() == {"v": [1]}
