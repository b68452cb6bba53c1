"""`parser/workarounds/grouped_constants.py`"""

from __future__ import annotations

from datafusion import SessionConfig, SessionContext


def test_a_constant_key_is_still_left_out_of_the_order() -> None:
    context = SessionContext(SessionConfig().with_target_partitions(2))
    plan = context.sql(
        "SELECT r, p, count(*) FROM (VALUES ('eu', 3), ('eu', 1), ('us', 2)) AS t(r, p) WHERE r = 'eu' "
        "GROUP BY ROLLUP (r, p) ORDER BY r, p"
    ).execution_plan()
    assert "SortExec: expr=[p@1 " in plan.display_indent(), "it sorts by r now: the workaround can go"
