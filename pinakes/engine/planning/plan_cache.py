"""The plan cache: a plan is reused while the metadata that it was made from is unchanged.

It is valid if every listing and description that the planner read is still the same entry of its cache
(`caches/reads.py`), the same catalogs are mounted, and user, namespace and settings are the same. Not cached are plans
with files, object stores, temporary relations, system tables, AS OF or non-deterministic functions, and plans within a
transaction, which has its own version of tables.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date, datetime, time
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from pinakes.caches.metadata import TableKey
from pinakes.caches.reads import Read, Reads, mounts_of
from pinakes.caches.statements import PlanKey
from pinakes.core.names import TEMP
from pinakes.engine.binding.binder import PATHS
from pinakes.engine.binding.relation import key_of as relation_key
from pinakes.engine.datafusion.determinism import is_steady
from pinakes.engine.datafusion.plan_metrics import summary_of
from pinakes.engine.datafusion.workarounds.cancellable_joins import PLAIN_JOINS
from pinakes.engine.execution.result_cache import versions_of
from pinakes.engine.planning.plan import ExecutablePlan, batch_limits
from pinakes.engine.planning.prepare import prepare

if TYPE_CHECKING:
    from collections.abc import Collection, Hashable, Iterable

    from datafusion.plan import LogicalPlan

    from pinakes.engine.binding.relation import Relation
    from pinakes.engine.execution.result_cache import Versions
    from pinakes.engine.iceberg.scan.file_integrity import Watched
    from pinakes.engine.planning.plan import Plan
    from pinakes.engine.statement_context import Execution
    from pinakes.parser.statements import Planned

_PLAIN = (int, str, float, bool, type(None), Decimal, date, datetime, time)
_LONGEST = 1000
"""Characters of all parameters together."""


@dataclass(frozen=True, slots=True)
class KnownPlan:
    plan: LogicalPlan
    schema: pa.Schema
    summary: str
    catalogs: frozenset[str]
    watched: tuple[Watched, ...]
    versions: Versions
    reads: tuple[Read, ...]
    relations: tuple[Relation, ...]
    """The relations that the guard checks again at each run."""
    mounts: frozenset[str]
    """What the reads are of."""
    with_statistics: bool
    with_dynamic_filters: bool
    """The options that it was planned with; DataFusion looks at them when a plan is run."""


@dataclass(frozen=True, slots=True)
class Ready:
    """A query that is about to run."""

    plan: ExecutablePlan
    versions: Versions | None = None
    """Those of the tables that it reads; None if its rows may be other ones the next time nevertheless."""
    mounts: frozenset[str] = frozenset()


def key_of(statement: Planned, text: str, execution: Execution) -> PlanKey | None:
    """The key of a query in the cache; None if its plan cannot be cached."""
    session = execution.session
    parameters = _parameters(execution.parameters)
    if statement.shown != statement.text or not statement.parsed or parameters is None:
        return None
    if session.transaction is not None or execution.wide:  # it is run again with smaller batches
        return None
    if not session.temporary.is_empty or session.resolver.temporary_place() is not None or session.remembered:
        return None
    who = session.identity
    text = text.strip().rstrip(";").rstrip()
    return PlanKey(who.user, who.fingerprint, session.guard.rights, text, parameters, session.settings, session.scope)


def _parameters(given: Any) -> Hashable | None:
    """As texts with their types: 1 and 1.0 are equal in Python and are not the same in SQL."""
    if not all(type(value) in _PLAIN for value in given.values()):
        return None
    found = tuple((name, type(value).__name__, repr(value)) for name, value in given.items())
    return found if sum(len(shown) for _, _, shown in found) <= _LONGEST else None


def cached_or_new_plan(statement: Planned, key: PlanKey | None, execution: Execution, reads: Reads) -> Ready:
    """The plan of a query: the cached one, or a new one; `reads` collects what it was made from. Without a key the
    cache is not used."""
    if key is None:
        with reads.collecting():
            return Ready(prepare(execution.planner().query(statement, is_result=True), execution))
    plans, world = execution.session.engine.caches.plans, execution.session.catalogs.world
    known = plans.find(key, world, KnownPlan)
    if known is not None and _is_admitted(known, execution):
        reads.adopt(known.reads)
        return _again(known, execution)
    with reads.collecting():
        plan = execution.planner().query(statement, is_result=True)
        steady = is_steady(plan.frame.logical_plan().display_indent())
        executable = prepare(plan, execution)
    relations = plan.relations.values()
    versions = versions_of(relations) if steady else None
    read = reads.whole
    if read is None or versions is None:  # what it read changed on the way, or is not all that it depends on
        return Ready(executable)
    if _can_be_kept(executable, relations, read, execution):
        plans.put(key, world, _made(executable, plan, versions, read, execution))
    return Ready(executable, versions, mounts_of(read))


def known_schema(statement: Planned, execution: Execution) -> pa.Schema | None:
    """What the rows of a query would be like, if its plan is known."""
    key = key_of(statement, statement.text, execution)
    if key is None:
        return None
    session = execution.session
    known = session.engine.caches.plans.find(key, session.catalogs.world, KnownPlan)
    return None if known is None else known.schema


def _made(
    executable: ExecutablePlan, plan: Plan, versions: Versions, reads: tuple[Read, ...], execution: Execution
) -> KnownPlan:
    query, frame = execution.query, executable.frame
    return KnownPlan(
        frame.logical_plan(),
        executable.schema,
        query.plan or summary_of(frame.optimized_logical_plan()),
        frozenset(query.catalogs),
        executable.watched,
        versions,
        reads,
        # What else they have would keep this very statement and its session.
        tuple(replace(relation, view_plan=None, scan=None, shared=None) for relation in plan.relations.values()),
        mounts_of(reads),
        with_statistics=plan.bound.uses_statistics,
        with_dynamic_filters=not plan.facts.names_meet,
    )


def _is_admitted(known: KnownPlan, execution: Execution) -> bool:
    """Whether the user may read all that the plan reads, unchanged; otherwise the query is planned again."""
    guard = execution.session.guard
    return all(guard.relation(relation) is relation for relation in known.relations)


def _again(known: KnownPlan, execution: Execution) -> Ready:
    session = execution.session
    with execution.query.phase("plan"):
        execution.query.planned(known.summary)
        execution.query.catalogs |= known.catalogs
        context, statistics, filters = session.context, known.with_statistics, known.with_dynamic_filters
        with session.plan_lock:
            rows = session.settings.batch_size
            switches = session.switches
            switches.set(context, statistics=statistics, dynamic_filters=filters, round_robin=True, rows=rows)
            frame = context.create_dataframe_from_logical_plan(known.plan)
    plan = ExecutablePlan(frame, known.schema, {}, known.watched)
    return Ready(plan, known.versions, known.mounts)


def _can_be_kept(
    executable: ExecutablePlan, relations: Collection[Relation], reads: Iterable[Read], execution: Execution
) -> bool:
    if executable.computed or executable.files or executable.remote:
        return False
    if any(relation.is_plain for relation in executable.relations.values()):
        return False
    assert executable.plan is not None
    facts = executable.plan.facts
    usual = execution.session.settings.batch_size
    rows, _ = batch_limits(executable.plan.bound.sql, facts, usual, execution.session.engine.result_limit)
    if facts.recursive or facts.constants or rows != usual:  # it has options of its own
        return False
    if executable.plan.joins != PLAIN_JOINS:  # it has a function of this very query in it, or batches of its own
        return False
    if any(relation.is_restricted for relation in relations):  # it is not what the next one may read
        return False
    if execution.session.transaction is not None:  # another thread has begun one
        return False
    described = {relation_key("", r.key.namespace, r.key.name)[1:] for r in reads if isinstance(r.key, TableKey)}
    return all(_is_of_catalog(relation) and relation.key[1:] in described for relation in relations)


def _is_of_catalog(relation: Relation) -> bool:
    """A stored table as it is now, or a stored view."""
    catalog, namespace, _ = relation.key
    return not relation.full_name and catalog != TEMP and namespace != PATHS and not relation.files
