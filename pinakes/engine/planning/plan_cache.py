"""Queries that were planned before: their plan is run again while all that it was made of is as it was.

That is so when every listing and description that the planner read is still in its cache, the very same
(`caches/reads.py`), the same catalogs are mounted, and who asks, from where and under which settings did not change.
Planned each time is what a plan can't be kept for: files, object stores, temporary things, system tables, AS OF, clocks
and dice. So is everything within a transaction, which sees tables as no cache has them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date, datetime, time
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from pinakes.caches.plans import PlanKey
from pinakes.caches.reads import Read, Reads, mounts_of
from pinakes.caches.table_metadata import TableKey
from pinakes.core.names import TEMP
from pinakes.engine.binding.binder import PATHS
from pinakes.engine.binding.relation import key_of as relation_key
from pinakes.engine.datafusion.plan_metrics import summary_of
from pinakes.engine.execution.result_cache import versions_of
from pinakes.engine.planning.determinism import is_steady

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Sequence

    from datafusion import DataFrame
    from datafusion.plan import LogicalPlan

    from pinakes.engine.binding.relation import Relation
    from pinakes.engine.execution.result_cache import Versions
    from pinakes.engine.iceberg.scan.file_integrity import Watched
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
    """What the guard is asked for again at each run."""
    mounts: frozenset[str]
    """What the reads are of."""
    with_statistics: bool
    with_dynamic_filters: bool
    """The options that it was planned with; DataFusion looks at them when a plan is run."""


@dataclass(frozen=True, slots=True)
class Ready:
    """A query that is about to run."""

    frame: DataFrame
    schema: pa.Schema
    versions: Versions | None
    """Those of the tables that it reads; None if its rows may be other ones the next time nevertheless."""
    mounts: frozenset[str]


def key_of(statement: Planned, text: str, execution: Execution) -> PlanKey | None:
    """What a query is remembered by; None if it is not to be."""
    session = execution.session
    parameters = _parameters(execution.parameters)
    if statement.shown != statement.text or not statement.parsed or parameters is None:
        return None
    if session.transaction is not None:
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


def ready(statement: Planned, key: PlanKey, execution: Execution, reads: Reads) -> Ready:
    """The plan of a query: the one that is known, or a new one; `reads` learns what it was made of."""
    plans, world = execution.session.engine.caches.plans, execution.session.catalogs.world
    known = plans.find(key, world, KnownPlan)
    if known is not None and _is_admitted(known, execution):
        reads.adopt(known.reads)
        return _again(known, execution)
    planner = execution.planner()
    with reads.collecting():
        frame = planner.query(statement)
        steady = is_steady(frame.logical_plan().display_indent())
        frame, schema = execution.ready(frame)
    versions = versions_of(planner.relations.all()) if steady else None
    read = reads.whole
    if read is None or versions is None:  # what it read changed on the way, or is not all that it depends on
        return Ready(frame, schema, None, frozenset())
    relations = planner.relations.all()
    if _can_be_kept(relations, read, execution):
        plans.put(key, world, _made(frame, schema, versions, read, relations, execution))
    return Ready(frame, schema, versions, mounts_of(read))


def known_schema(statement: Planned, execution: Execution) -> pa.Schema | None:
    """What the rows of a query would be like, if its plan is known."""
    key = key_of(statement, statement.text, execution)
    if key is None:
        return None
    session = execution.session
    known = session.engine.caches.plans.find(key, session.catalogs.world, KnownPlan)
    return None if known is None else known.schema


def _made(
    frame: DataFrame,
    schema: pa.Schema,
    versions: Versions,
    reads: tuple[Read, ...],
    relations: Sequence[Relation],
    execution: Execution,
) -> KnownPlan:
    query, plans = execution.query, execution.plans
    return KnownPlan(
        frame.logical_plan(),
        schema,
        query.plan or summary_of(frame.optimized_logical_plan()),
        frozenset(query.catalogs),
        plans.watched,
        versions,
        reads,
        # What else they have would keep this very statement and its session.
        tuple(replace(relation, remade=None, scan=None, shared=None) for relation in relations),
        mounts_of(reads),
        with_statistics=execution.statistics,
        with_dynamic_filters=not plans.names_meet,
    )


def _is_admitted(known: KnownPlan, execution: Execution) -> bool:
    """Whether who asks may read all that it reads, as it is; it is planned anew where they may see it otherwise."""
    guard = execution.session.guard
    return all(guard.relation(relation) is relation for relation in known.relations)


def _again(known: KnownPlan, execution: Execution) -> Ready:
    session = execution.session
    with execution.query.phase("plan"):
        execution.query.planned(known.summary)
        execution.query.catalogs |= known.catalogs
        execution.plans.watch(known.watched)
        context, statistics, filters = session.context, known.with_statistics, known.with_dynamic_filters
        with session.plan_lock:
            rows = session.settings.batch_size
            switches = session.switches
            switches.set(context, statistics=statistics, dynamic_filters=filters, round_robin=True, rows=rows)
            frame = context.create_dataframe_from_logical_plan(known.plan)
    return Ready(frame, known.schema, known.versions, known.mounts)


def _can_be_kept(relations: Sequence[Relation], reads: Iterable[Read], execution: Execution) -> bool:
    plans = execution.plans
    if plans.computed or plans.reads_plainly or plans.remote() or execution.files:
        return False
    if plans.recurses:  # it has an option of its own
        return False
    if (
        plans.calls is not None or plans.crosses or plans.constants
    ):  # it has a function of this very query in it, or batches of its own
        return False
    if plans.guarded:  # the guard gave something else than there is, for this once
        return False
    if execution.session.transaction is not None:  # another thread has begun one
        return False
    described = {relation_key("", r.key.namespace, r.key.name)[1:] for r in reads if isinstance(r.key, TableKey)}
    return all(_is_of_catalog(relation) and relation.key[1:] in described for relation in relations)


def _is_of_catalog(relation: Relation) -> bool:
    """A stored table as it is now, or a stored view."""
    catalog, namespace, _ = relation.key
    return not relation.full_name and catalog != TEMP and namespace != PATHS and not relation.files
