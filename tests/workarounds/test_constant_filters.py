"""`parser/workarounds/constant_filters.py`"""

from __future__ import annotations

import pytest
from datafusion import SessionConfig, SessionContext

from pinakes.parser.functions.catalog import RULES
from pinakes.parser.workarounds.constant_filters import AGGREGATES
from tests.workarounds.bare import answer


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT count(*) FROM a HAVING (SELECT max(x) FROM a) > 100",
        "SELECT * FROM (SELECT count(*) AS c FROM a) AS q WHERE c BETWEEN NULL AND 7",
        "SELECT k, count(*) FROM a GROUP BY ROLLUP (k) HAVING (SELECT max(x) FROM a) > 100",
    ],
)
def test_a_condition_without_columns_still_goes_below_an_aggregate(sql: str) -> None:
    assert answer(sql) != [], "this is right now: the workaround can go"


def test_all_aggregates_are_known() -> None:
    context = SessionContext(SessionConfig().with_information_schema(True))
    told = context.sql(
        "SELECT DISTINCT routine_name FROM information_schema.routines WHERE function_type = 'AGGREGATE'"
    )
    rewritten = {name for name, rule in RULES.items() if rule.kind == "aggregate"}
    assert set(told.to_pydict()["routine_name"]) | rewritten == AGGREGATES
