"""`parser/workarounds/row_values.py`"""

from __future__ import annotations

from tests.workarounds.bare import answer


def test_null_in_a_row_is_still_a_value() -> None:
    assert (3,) in answer("SELECT id FROM a WHERE (k, x) < (5, 8)"), "this is right now: the workaround can go"
    assert (6,) in answer("SELECT id FROM a WHERE (k, x) NOT IN ((1, 10), (5, 7))")
