"""`parser/workarounds/exists_items.py`"""

from __future__ import annotations

from tests.workarounds.bare import answer


def test_the_selected_column_is_still_compared() -> None:
    joined = "FROM b AS i CROSS JOIN a AS j WHERE i.k = a.k AND j.k = 5"
    assert answer(f"SELECT id FROM a WHERE EXISTS (SELECT 1 {joined})") == [(1,), (2,), (4,)]
    found = answer(f"SELECT id FROM a WHERE EXISTS (SELECT j.k {joined})")
    assert found != [(1,), (2,), (4,)], "this is right now: the workaround can go"
