"""EXPLAIN [ANALYZE] [VERBOSE] query: DataFusion's own plan, one row per plan type."""

from __future__ import annotations

from pinakes.engine.execution import Execution
from pinakes.engine.result import Result
from pinakes.parser.statements import Explain


def explain(statement: Explain, execution: Execution) -> Result:
    planner = execution.planner()
    words = ["EXPLAIN", "ANALYZE" * statement.analyze, "VERBOSE" * statement.verbose]
    if statement.format:
        words.append(f"FORMAT {statement.format}")
    body = planner.rewrite(statement, statement.body)
    return execution.stream(planner.plan(" ".join(w for w in words if w) + " " + body.text, statement))
