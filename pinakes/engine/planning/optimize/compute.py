"""The subqueries that a plan reads several times, computed: first what is taken of each is found, then their rows.

One may read another that stands before it. So what is taken is found from the last to the first: by the plan, and by
those after it. Rows are computed from the first to the last.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from datafusion import DataFrame, col, lit
from datafusion import Table as Provider

from pinakes.core.names import quote
from pinakes.engine.datafusion.error_translation import translated
from pinakes.engine.planning.optimize.demand import Demand, demand
from pinakes.engine.planning.optimize.kept_rows import IN_MEMORY, KeptRows
from pinakes.engine.planning.optimize.plain_types import any_value
from pinakes.engine.planning.prepare import answered, cancellable
from pinakes.engine.pushdown.scan_requests import scan_requests, together

if TYPE_CHECKING:
    from datafusion.plan import LogicalPlan

    from pinakes.engine.binding.relation import Key, Relation
    from pinakes.engine.planning.optimize.shared import Shared
    from pinakes.engine.planning.plan import ExecutablePlan, Plan
    from pinakes.engine.pushdown.scan_pushdown import Pruned
    from pinakes.engine.statement_context import Execution


@dataclass(frozen=True, slots=True)
class Computed:
    """A computed subquery, as EXPLAIN shows it."""

    name: str
    uses: int
    frame: DataFrame
    rows: int | None
    """None when nothing was run."""
    is_in_file: bool
    demand: Demand

    def told(self) -> str:
        """For people: what for, what of it, and how."""
        rows = "" if self.rows is None else f": {self.rows} rows{' in a file' if self.is_in_file else ''}"
        with translated():
            plan = self.frame.execution_plan().display_indent()
        return f"{self.uses} uses, columns {', '.join(self.demand.names)}{rows}\n{plan}"


@dataclass(frozen=True, slots=True)
class ComputedRelations:
    """The relations to put in place of the placeholders of shared subqueries."""

    relations: Mapping[Key, Relation]
    subqueries: tuple[Computed, ...]
    pruned: tuple[tuple[Key, Pruned], ...]
    """How tables were pruned for them."""


@dataclass(frozen=True, slots=True)
class _Wanted:
    shared: Shared
    demand: Demand
    plan: Plan
    optimized: LogicalPlan


def compute(execution: Execution, relations: Mapping[Key, Relation], optimized: LogicalPlan) -> ComputedRelations:
    wanted = _wanted(execution, relations, optimized)
    done = ComputedRelations({}, (), ())
    for key, relation in relations.items():
        if relation.shared is None:
            continue
        if wanted is not None and key in wanted:
            provider, ran, computed = _provider(execution, wanted[key], done)
            found = replace(relation, provider=provider, shared=None)
            subqueries = (*done.subqueries, computed)
        else:
            ran = _inline(execution, relation.shared, done)
            plain = any(r.is_plain for r in ran.relations.values())
            provider = ran.frame.into_view()
            found = replace(relation, provider=provider, shared=None, watched=ran.watched, is_plain=plain)
            subqueries = done.subqueries
        pruned = ((table, one) for table, several in ran.pruned.items() for one in several)
        done = ComputedRelations({**done.relations, key: found}, subqueries, (*done.pruned, *pruned))
    return done


def _wanted(
    execution: Execution, relations: Mapping[Key, Relation], optimized: LogicalPlan
) -> dict[Key, _Wanted] | None:
    """What is taken of those that are read: found from the last to the first, as none reads one that stands after it.
    None if it can't be known."""
    context = execution.session.context
    placeholders = [relation.shared.placeholder for relation in relations.values() if relation.shared is not None]
    requests = [scan_requests(optimized, placeholders, context)]
    found: dict[Key, _Wanted] = {}
    for key, relation in reversed(list(relations.items())):
        shared = relation.shared
        if shared is None:
            continue
        request = together(asked[shared.placeholder] for asked in requests)
        if request.scans is None:
            return None
        if not request.scans:
            continue
        with execution.query.phase("plan"), translated():
            asked = demand(request.scans, shared)
            plan = shared.plan.derive(asked)
            found[key] = _Wanted(shared, asked, plan, plan.frame.optimized_logical_plan())
            requests.append(scan_requests(found[key].optimized, placeholders, context))
    return found


def _inline(execution: Execution, shared: Shared, done: ComputedRelations) -> ExecutablePlan:
    """The subquery itself, which every use computes for itself, as if it had not been looked at."""
    with execution.query.phase("plan"), translated():
        optimized = shared.plan.frame.optimized_logical_plan()
        plan = cancellable(shared.plan, optimized, execution.session, execution.query)
        return answered(plan, optimized, execution, done.relations, is_part=True)


def _provider(
    execution: Execution, wanted: _Wanted, done: ComputedRelations
) -> tuple[Provider, ExecutablePlan, Computed]:
    """The rows of a subquery, the plan that computed them, and what EXPLAIN shows of it."""
    session, shared, asked = execution.session, wanted.shared, wanted.demand
    with execution.query.phase("plan"), translated():
        planned = cancellable(wanted.plan, wanted.optimized, session, execution.query)
        plan = answered(planned, wanted.optimized, execution, done.relations, is_part=True)
    config = session.engine.config.engine
    batches = iter(()) if execution.dry else execution.read(plan)
    kept = KeptRows(plan.schema, batches, config.spill_dir, min(IN_MEMORY, config.memory_limit // 8))
    rows = None if execution.dry else kept.rows
    computed = Computed(shared.name, shared.uses, plan.frame, rows, kept.is_in_file, asked)
    frame = kept.frame(session.settings.target_partitions, shared.name)
    return _whole(frame, shared, asked).into_view(), plan, computed


def _whole(frame: DataFrame, shared: Shared, asked: Demand) -> DataFrame:
    """All columns of the subquery, in their order. Columns that are not read get an arbitrary value, which is not NULL
    where NULL is not allowed."""
    return frame.select(
        *(col(quote(f.name)) if f.name in asked.names else lit(any_value(f)).alias(f.name) for f in shared.schema)
    )
