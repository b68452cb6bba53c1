"""`parser/workarounds/grouped_rows.py`"""

from __future__ import annotations

from tests.workarounds.bare import answer


def test_a_row_beside_grouping_sets_still_loses_columns() -> None:
    right = answer("SELECT k, s, count(*) FROM a GROUP BY GROUPING SETS ((k, s), (k, s))")
    found = answer("SELECT k, s, count(*) FROM a GROUP BY GROUPING SETS (k, s), (k, s)")
    assert found != right, "this is right now: the workaround can go"
