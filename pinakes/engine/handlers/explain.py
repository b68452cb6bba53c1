"""EXPLAIN [ANALYZE] [VERBOSE] query: how it would be run; with ANALYZE it is, and each step tells its rows and time.

DataFusion's own plan, one row per plan type.
"""

from __future__ import annotations

from pinakes.core.errors import InvalidArgument, NotSupportedError
from pinakes.engine.execution import Execution
from pinakes.engine.result import Result
from pinakes.parser.statements import Explain, Query

_FORMATS = {
    "TEXT": "indent",
    "INDENT": "indent",
    "TREE": "tree",
    "JSON": "pgjson",
    "PGJSON": "pgjson",
    "GRAPHVIZ": "graphviz",
}


def explain(statement: Explain, execution: Execution) -> Result:
    inner = execution.session.engine.caches.statements.classify(statement.body.of(statement.text))
    if not isinstance(inner, Query):
        raise NotSupportedError(f"EXPLAIN of {inner.kind} is not supported yet: EXPLAIN the query in it")
    planner = execution.planner()
    words = ["EXPLAIN", "ANALYZE" * statement.analyze, "VERBOSE" * statement.verbose, _format(statement)]
    body = planner.rewrite(statement, statement.body)
    return execution.stream(planner.plan(" ".join(w for w in words if w) + " " + body.text, statement))


def _format(statement: Explain) -> str:
    if statement.format is None:
        return ""
    known = _FORMATS.get(statement.format.upper())
    if known is None:
        raise InvalidArgument(f"EXPLAIN has no format {statement.format}; there is: TEXT, TREE, JSON, GRAPHVIZ")
    return f"FORMAT {known}"
