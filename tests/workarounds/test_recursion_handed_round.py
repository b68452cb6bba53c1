"""DataFusion still hands the batches of a recursion round to several threads, where each filter waits for full batches:
else the switch `round_robin` (`engine/datafusion/session_config.py`) can go."""

from __future__ import annotations

from datafusion import SessionConfig, SessionContext

SQL = "WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r) SELECT n FROM r WHERE n < 4 LIMIT 3"


def test_batches_of_a_recursion_are_handed_round() -> None:
    context = SessionContext(SessionConfig().with_target_partitions(2))
    plan = context.sql(SQL).execution_plan().display_indent()
    assert plan.index("RoundRobinBatch") < plan.index("RecursiveQueryExec")
