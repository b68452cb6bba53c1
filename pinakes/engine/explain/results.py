"""The state of the result cache in EXPLAIN FULL: whether it has the result, and if not, why."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pinakes.engine.datafusion.determinism import is_steady
from pinakes.engine.execution.result_cache import versions_of
from pinakes.engine.explain.facts import ResultCacheUse
from pinakes.engine.planning.plan_cache import key_of
from pinakes.parser.statements import ExplainFull

if TYPE_CHECKING:
    from pinakes.engine.planning.plan import Plan
    from pinakes.engine.statement_context import Execution
    from pinakes.parser.statements import Planned, Span


def result_cache_use(statement: Planned, span: Span, execution: Execution, plan: Plan) -> ResultCacheUse | None:
    """Returns None if the cache is off, and for a query within another statement."""
    session = execution.session
    if not session.settings.result_cache or not isinstance(statement, ExplainFull) or span != statement.body:
        return None
    if not is_steady(plan.frame.logical_plan().display_indent()):
        return ResultCacheUse(False, "not kept: a function that gives something else each time")
    key, versions = key_of(statement, span.of(statement.text), execution), versions_of(plan.relations.values())
    if key is None or versions is None:
        return ResultCacheUse(False, "not kept: reads more than Iceberg tables of catalogs")
    if session.engine.caches.results.has(key, versions):
        return ResultCacheUse(True, "answers: nothing would be read")
    return ResultCacheUse(False, "has it not: kept when it is read to its end")
