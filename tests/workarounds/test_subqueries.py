"""`parser/subqueries`"""

from __future__ import annotations

import pytest

from tests.workarounds.bare import answer

UNPLANNED = {
    "another comparison than =": "SELECT id, (SELECT count(*) FROM b WHERE b.k < a.k) FROM a",
    "LIMIT": "SELECT id, (SELECT y FROM b WHERE b.k = a.k ORDER BY y LIMIT 1) FROM a",
    "no aggregate": "SELECT id, (SELECT y FROM b WHERE b.k = a.k AND b.id < 3) FROM a",
    "EXISTS as a value": "SELECT id, EXISTS (SELECT 1 FROM b WHERE b.k = a.k) FROM a",
    "IN as a value": "SELECT id, k IN (SELECT k FROM b) FROM a",
    "LATERAL with an aggregate": "SELECT id, n FROM a, LATERAL (SELECT count(*) AS n FROM b WHERE b.k < a.k) AS l",
    "ORDER BY": "SELECT id FROM a ORDER BY (SELECT max(y) FROM b WHERE b.k = a.k)",
}


@pytest.mark.parametrize("what", UNPLANNED)
def test_it_still_cannot_be_planned(what: str) -> None:
    with pytest.raises(Exception, match=r"not support|must be aggregated|can only be used|No field named"):
        answer(UNPLANNED[what])


def test_null_is_still_false_in_a_condition() -> None:
    found = answer("SELECT id FROM a WHERE k NOT IN (SELECT k FROM b) OR id = 1")
    assert found != [(1,)], "this is right now: NOT IN need not be joined"
