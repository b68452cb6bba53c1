"""`parser/workarounds/in_lists.py`"""

from __future__ import annotations

from tests.workarounds.bare import answer


def test_computed_values_are_still_taken_for_constant() -> None:
    case = "CASE WHEN l.x IS NOT NULL THEN -5 ELSE r.id END"
    sql = f"SELECT l.id FROM a AS l CROSS JOIN a AS r WHERE abs(l.id) IN (17, {case})"
    assert answer(sql) != [(2,), (6,)], "this is right now: the workaround can go"


def test_lists_are_still_joined_as_they_are_written() -> None:
    found = answer("SELECT id FROM a WHERE id IN (k, 5) AND id IN (x, 5, 1)")
    assert found != [(1,), (5,)], "this is right now: the workaround can go"
    found = answer("SELECT id FROM a WHERE id IN (1, 2) AND id NOT IN (1, NULL)")
    assert found != [], "this is right now: the workaround can go"


def test_minus_zero_is_still_not_found() -> None:
    assert answer("SELECT id FROM f WHERE d IN (0, 5, 6, 7)") != [(1,), (2,)], (
        "this is right now: the workaround can go"
    )
    assert answer("SELECT id FROM f WHERE -d IN (0, 5)") != [(1,), (2,)], "this is right now: the workaround can go"


def test_the_optimiser_still_makes_lists_of_its_own() -> None:
    sql = "SELECT id FROM f WHERE d = 0 OR d = 5 OR d = 6 OR d = 7"
    assert answer(sql) != [(1,), (2,)], (
        "this is right now: `engine/datafusion/workarounds/join_filter_columns.py` need not refuse it"
    )
