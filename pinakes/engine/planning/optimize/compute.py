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
from pinakes.engine.datafusion.plan_schema import schema_of_plan
from pinakes.engine.planning.optimize.demand import Demand, demand, uses_in
from pinakes.engine.planning.optimize.kept_rows import IN_MEMORY, KeptRows
from pinakes.engine.planning.optimize.plain_types import any_value
from pinakes.engine.pushdown.scan_pushdown import serialized

if TYPE_CHECKING:
    from datafusion.plan import LogicalPlan

    from pinakes.engine.binding.relation import Key, Relation
    from pinakes.engine.planning.optimize.shared import Shared
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
class _Wanted:
    shared: Shared
    demand: Demand
    frame: DataFrame
    optimized: LogicalPlan


def compute(execution: Execution, relations: Mapping[Key, Relation], optimized: LogicalPlan) -> dict[Key, Relation]:
    """The relations to put in place of their shadows."""
    wanted = _wanted(execution, relations, optimized)
    computed: dict[Key, Relation] = {}
    for key, relation in relations.items():
        if relation.shared is None:
            continue
        if wanted is not None and key in wanted:
            provider = _provider(execution, wanted[key], computed)
        else:
            provider = _inline(execution, relation.shared, computed)
        computed[key] = replace(relation, provider=provider, shared=None)
    return computed


def _wanted(
    execution: Execution, relations: Mapping[Key, Relation], optimized: LogicalPlan
) -> dict[Key, _Wanted] | None:
    """What is taken of those that are read: found from the last to the first, as none reads one that stands after it.
    None if it can't be known, since a plan with rows in memory can't be serialised."""
    context = execution.session.context
    plans = [serialized(optimized, context)]
    found: dict[Key, _Wanted] = {}
    for key, relation in reversed(list(relations.items())):
        shared = relation.shared
        if None in plans:
            return None
        uses = [u for plan in plans if plan for u in uses_in(plan, shared.marker)] if shared is not None else []
        if shared is None or not uses:
            continue
        with execution.query.phase("plan"), translated():
            asked = demand(uses, shared.schema.names, context)
            frame = execution.plans.derived(shared.frame, asked.of)
            found[key] = _Wanted(shared, asked, frame, frame.optimized_logical_plan())
        plans.append(serialized(found[key].optimized, context))
    return found


def _inline(execution: Execution, shared: Shared, computed: Mapping[Key, Relation]) -> Provider:
    """The subquery itself, which every use computes for itself, as if it had not been looked at."""
    with execution.query.phase("plan"), translated():
        optimized = shared.frame.optimized_logical_plan()
        frame = execution.plans.narrowed(shared.frame, optimized, execution.session, execution.query, computed)
        return frame.into_view()


def _provider(execution: Execution, wanted: _Wanted, computed: Mapping[Key, Relation]) -> Provider:
    session, plans, asked = execution.session, execution.plans, wanted.demand
    with execution.query.phase("plan"), translated():
        frame = plans.narrowed(wanted.frame, wanted.optimized, session, execution.query, computed)
        schema = schema_of_plan(wanted.optimized)
    config = session.engine.config.engine
    batches = iter(()) if plans.dry else execution.read(frame, schema)
    kept = KeptRows(schema, batches, config.spill_dir, min(IN_MEMORY, config.memory_limit // 8))
    rows = None if plans.dry else kept.rows
    plans.computed.append(Computed(wanted.shared.name, wanted.shared.uses, frame, rows, kept.is_in_file, asked))
    partitions = session.settings.target_partitions
    return _whole(kept.frame(partitions, wanted.shared.name), wanted.shared, asked).into_view()


def _whole(frame: DataFrame, shared: Shared, asked: Demand) -> DataFrame:
    """All columns of the subquery, in their order. Columns that are not read get an arbitrary value, which is not NULL
    where NULL is not allowed."""
    return frame.select(
        *(col(quote(f.name)) if f.name in asked.names else lit(any_value(f)).alias(f.name) for f in shared.schema)
    )
