"""`parser/workarounds/array_any.py`"""

from __future__ import annotations

from tests.workarounds.bare import answer


def test_null_in_an_array_is_still_no_match() -> None:
    assert answer("SELECT 4 = ANY ([1, 2, 3, NULL])") == [(False,)], "this is right now: the workaround can go"
    assert answer("SELECT 0 > ANY ([1, NULL])") == [(False,)]
