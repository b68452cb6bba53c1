"""`parser/workarounds/distinct_from.py`"""

from __future__ import annotations

from tests.workarounds.bare import answer


def test_null_keys_of_nested_joins_are_still_lost() -> None:
    inner = "b JOIN b AS c ON b.k IS NOT DISTINCT FROM c.k"
    right = answer(f"SELECT b.id FROM {inner}")
    found = answer(f"SELECT b.id FROM (SELECT 1 AS one) AS o CROSS JOIN ({inner})")
    assert (3,) in right
    assert found != right, "this is right now: the workaround can go"


def test_what_follows_is_still_a_part_of_the_operand() -> None:
    whole = answer("SELECT (FALSE IS NOT DISTINCT FROM TRUE) OR TRUE")
    assert whole == [(True,)]
    assert answer("SELECT FALSE IS NOT DISTINCT FROM TRUE OR TRUE") != whole, "this is right now: the workaround can go"
