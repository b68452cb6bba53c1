"""`parser/workarounds/scalar_subqueries.py`"""

from __future__ import annotations

import pytest

from tests.workarounds.bare import answer


@pytest.mark.parametrize(
    "query",
    ["SELECT 5 FROM none", "SELECT nullif(5, 6) FROM none", "SELECT count(*) FROM none HAVING false"],
)
def test_a_query_without_rows_is_still_not_null(query: str) -> None:
    assert answer(f"SELECT ({query}) IS NULL") == [(False,)], "this is right now: the workaround can go"


def test_a_condition_that_is_not_folded_makes_it_null() -> None:
    assert answer("SELECT (SELECT CASE WHEN random() >= -1 THEN 5 END FROM none) IS NULL") == [(True,)]
