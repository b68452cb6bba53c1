"""From a plan to one that can be run: the placeholder scans are answered, and the query is planned over the answers.

    Plan -> optimised plan -> cancellable Plan -> computed subqueries -> ScanAnswers -> ExecutablePlan

DataFusion optimises the plan and pushes predicates to every scan, also within subqueries. They are read from the
serialised plan, and each source answers them (`engine/pushdown/scan_pushdown.py`). The optimised plan itself is not
run: it would be optimised again, which can lose a LIMIT.

Why this is correct: the optimised plan is equivalent to the original for any content of the tables, so also for the
remaining files; and it takes from its scans only rows that satisfy their predicates, all of which are in these files.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from pinakes.engine.datafusion.error_translation import translated
from pinakes.engine.datafusion.plan_metrics import summary_of
from pinakes.engine.datafusion.plan_schema import schema_of_plan
from pinakes.engine.datafusion.workarounds import cancellable_joins as joins
from pinakes.engine.datafusion.workarounds.join_filter_columns import refuse_astray, refuse_untyped
from pinakes.engine.planning.plan import ExecutablePlan, named_files, replan, watched_files
from pinakes.engine.pushdown.scan_pushdown import NO_ANSWERS, answer, answer_from_metadata

if TYPE_CHECKING:
    from datafusion.plan import LogicalPlan

    from pinakes.engine.binding.relation import Key, Relation
    from pinakes.engine.execution.query import Query
    from pinakes.engine.planning.plan import Plan
    from pinakes.engine.session import Session
    from pinakes.engine.statement_context import Execution


def prepare(plan: Plan, execution: Execution) -> ExecutablePlan:
    """The plan to run in place of one that may have placeholders."""
    query = execution.query
    with query.phase("plan"), translated():
        optimized = plan.frame.optimized_logical_plan()
        query.planned(summary_of(optimized))
        plan = cancellable(plan, optimized, execution.session, query)
        if all(relation.shared is None for relation in plan.relations.values()):
            return answered(plan, optimized, execution)
    from pinakes.engine.planning.optimize.compute import compute

    computed = compute(execution, plan.relations, optimized)
    with query.phase("plan"), translated():
        found = answered(plan, optimized, execution, computed.relations, is_part=True)
    pruned = {key: list(several) for key, several in found.pruned.items()}
    for key, one in computed.pruned:
        pruned.setdefault(key, []).append(one)
    return replace(found, pruned=pruned, computed=computed.subqueries)


def cancellable(plan: Plan, optimized: LogicalPlan, session: Session, query: Query) -> Plan:
    """The same plan in a form that can be cancelled also within joins that compare many rows with many
    (`engine/datafusion/workarounds/cancellable_joins.py`). Its predicates and columns are those of `optimized`."""
    if "Join:" not in optimized.display_indent():
        return plan
    keyless, crosses = joins.has_no_keys(optimized), joins.crosses(optimized, plan.relations.values())
    for loose in joins.LOOSENESS if joins.compares_pairs(optimized) else ():
        called = replan(plan, session, query, joins=joins.Joins(calls=loose, keyless=keyless, crosses=crosses))
        if joins.differs_by_calls(optimized, called.frame.optimized_logical_plan()):
            return called
    return replan(plan, session, query, joins=joins.Joins(crosses=True)) if crosses else plan


def answered(
    plan: Plan,
    optimized: LogicalPlan,
    execution: Execution,
    known: Mapping[Key, Relation] = MappingProxyType({}),
    *,
    is_part: bool = False,
) -> ExecutablePlan:
    """The plan over the answers of its scans; `known` are answers that are there already. It `is_part` of a statement
    whose subqueries are computed first."""
    session, query, facts = execution.session, execution.query, plan.facts
    if facts.needs_check:
        refuse_astray(optimized)
    if facts.untyped:
        refuse_untyped(optimized, unchecked=facts.unchecked)
    answers, ran, frame = NO_ANSWERS, plan, None
    if plan.bound.has_placeholders:
        with query.phase("prune"):  # without the lock: a catalog may be called for its metadata
            frame = answer_from_metadata(plan.relations, optimized)
            if frame is None or execution.explain:
                explain = execution.explain
                answers = answer(plan.relations, known, optimized, session.context, explain=explain, is_part=is_part)
        if frame is None:
            ran = replan(plan, session, query, answers=answers.relations)
    relations = ran.relations
    return ExecutablePlan(
        ran.frame if frame is None else frame,
        schema_of_plan(optimized),
        relations,
        watched_files(relations.values()),
        named_files(relations.values()),
        plan,
        answers.relations,
        {key: [one] for key, one in answers.pruned.items()},
    )


def renewed(executable: ExecutablePlan, execution: Execution) -> ExecutablePlan | None:
    """A plan that an object store refused, with renewed vended credentials; None if they are the same."""
    plan = executable.plan
    if plan is None:
        return None
    scans = {key: relation.scan for key, relation in plan.relations.items() if relation.scan is not None}
    if not [scan for scan in scans.values() if scan.renewed()]:
        return None
    kept = {key: relation for key, relation in executable.answers.items() if key not in scans}
    is_part = any(relation.shared is not None for relation in plan.relations.values())
    return answered(plan, plan.frame.optimized_logical_plan(), execution, kept, is_part=is_part)
