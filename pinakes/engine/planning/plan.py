"""The values of planning, and the function that plans a text: Bound -> Plan -> ExecutablePlan.

All of them are frozen. To plan a statement again is to call `replan` with other relations or other joins; nothing is
remembered between two calls. `prepare.py` has the steps from a plan to one that can be run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Protocol

from pinakes.engine.datafusion.error_translation import translated
from pinakes.engine.datafusion.session_config import READ_ONLY
from pinakes.engine.datafusion.workarounds.cancellable_joins import PLAIN_JOINS, Joins
from pinakes.engine.planning.width_guard import GuardedRelations, may_repeat
from pinakes.parser.typed import ARROW, WIDEST

if TYPE_CHECKING:
    import pyarrow as pa
    from datafusion import DataFrame

    from pinakes.core.errors import Position
    from pinakes.engine.binding.relation import Key, Relation
    from pinakes.engine.execution.query import Query
    from pinakes.engine.files.paths import File
    from pinakes.engine.iceberg.scan.file_integrity import Local, Remote, Watched
    from pinakes.engine.planning.optimize.compute import Computed
    from pinakes.engine.pushdown.scan_pushdown import Pruned
    from pinakes.engine.session import Session

Locate = Callable[[int, int], "Position | None"]
"""The place in the user's text of a line and column of planned text."""

MOST_OF_CONSTANTS = 1 << 26
FEWEST = 16
"""Rows of a batch with long constants."""
USUAL_WIDTH = 256
"""Bytes of a value, of which each call in a statement may make a copy for each row of a batch."""


@dataclass(frozen=True, slots=True)
class PlanFacts:
    """The facts about a text that DataFusion's options and the checks of its plan depend on."""

    recursive: bool = False
    """WITH RECURSIVE may occur. Batches of a recursion are not distributed to several threads: a filter would wait for
    full batches on each, and with it a LIMIT that has long been met."""
    names_meet: bool = False
    """Columns of one name may meet (`engine/datafusion/workarounds/join_filter_columns.py`)."""
    needs_check: bool = False
    """The plan may be one that is answered wrongly (`engine/datafusion/workarounds/join_filter_columns.py`)."""
    untyped: bool = False
    """The text has a form whose types are not known."""
    unchecked: bool = False
    """Numbers are computed whose types are not known."""
    constants: int = 0
    """The bytes of long constants and of long values of tables, of which each row of a batch may have copies."""

    def merge(self, other: PlanFacts) -> PlanFacts:
        """The facts about this text together with those about another in it, such as that of a view."""
        return PlanFacts(
            recursive=self.recursive or other.recursive,
            names_meet=self.names_meet or other.names_meet,
            needs_check=self.needs_check or other.needs_check,
            untyped=self.untyped or other.untyped,
            unchecked=self.unchecked or other.unchecked,
            constants=max(self.constants, other.constants),
        )


@dataclass(frozen=True, slots=True, eq=False)
class Bound:
    """A query in DataFusion's form: full names, types in place; and what its names mean."""

    sql: str
    relations: Mapping[Key, Relation] = field(repr=False)
    """Those of the statement so far, each after the ones that it reads; placeholder scans may be among them."""
    facts: PlanFacts
    parameters: dict[str, object] | None = field(default=None, repr=False)
    locate: Locate | None = field(default=None, repr=False)
    has_subqueries: bool = False
    is_unread: bool = False
    """The workarounds of `parser/workarounds` could not read the text."""
    references: int = 0
    """The relations that the text reads, a query of WITH wherever it is read."""

    @property
    def has_placeholders(self) -> bool:
        return any(relation.is_placeholder for relation in self.relations.values())

    @property
    def uses_statistics(self) -> bool:
        """Whether DataFusion may use the statistics of files (`engine/files/reading/parquet.py`)."""
        return all(relation.has_statistics for relation in self.relations.values())


class Derivation(Protocol):
    """A plan made from another, as a value: it is applied again when the other is planned again."""

    def of(self, frame: DataFrame) -> DataFrame: ...


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """DataFusion's plan of a bound query, before it is optimised."""

    bound: Bound
    frame: DataFrame = field(repr=False)  # its own text is that of its rows
    derivations: tuple[Derivation, ...] = ()
    joins: Joins = PLAIN_JOINS

    def derive(self, derivation: Derivation) -> Plan:
        """The plan of something else made of its rows."""
        return replace(self, frame=derivation.of(self.frame), derivations=(*self.derivations, derivation))

    @property
    def relations(self) -> Mapping[Key, Relation]:
        return self.bound.relations

    @property
    def facts(self) -> PlanFacts:
        return self.bound.facts


@dataclass(frozen=True, eq=False)
class ExecutablePlan:
    """A plan that reads rows, not placeholders."""

    frame: DataFrame = field(repr=False)
    schema: pa.Schema
    relations: Mapping[Key, Relation] = field(repr=False)
    """The ones that it reads."""
    watched: tuple[Watched, ...] = field(default=(), repr=False)
    """The data files of tables that DataFusion reads: they must exist, complete, from the first row to the last."""
    files: tuple[File, ...] = field(default=(), repr=False)
    """The files that the statement names by path."""
    plan: Plan | None = field(default=None, repr=False)
    """The plan that it was made from; None for a cached one."""
    answers: Mapping[Key, Relation] = field(default_factory=dict, repr=False)
    """The relations that took the place of placeholders."""
    pruned: Mapping[Key, Sequence[Pruned]] = field(default_factory=dict, repr=False)
    """How each table was pruned, if the statement is explained: several times, if a part of it is run first."""
    computed: tuple[Computed, ...] = field(default=(), repr=False)
    """The subqueries that were computed once for several uses."""

    @cached_property
    def local(self) -> list[Local]:
        """The data files on this machine."""
        return [file for file in self.watched if not file.host]  # type: ignore[misc]  # Remote has one

    @cached_property
    def remote(self) -> list[Remote]:
        """The data files in object stores."""
        return [file for file in self.watched if file.host]  # type: ignore[misc]  # Local has none

    def check(self) -> None:
        """Raise if a data file on this machine is missing or damaged."""
        for file in self.local:
            file.check()


def watched_files(relations: Iterable[Relation]) -> tuple[Watched, ...]:
    """Each file once."""
    return tuple({(file.host, file.path): file for relation in relations for file in relation.watched}.values())


def named_files(relations: Iterable[Relation]) -> tuple[File, ...]:
    return tuple(file for relation in relations for file in relation.files)


def plan_frame(
    bound: Bound,
    session: Session,
    query: Query,
    joins: Joins = PLAIN_JOINS,
    *,
    resolve: Callable[[str, str, str], Relation | None] | None = None,
    nested: bool = False,
) -> DataFrame:
    """Plans a bound query. `resolve` finds names that were not resolved before. If it is `nested`, another thread of
    the statement holds the lock, has set all options but one, and waits for this."""
    context, facts = session.context, bound.facts
    text, rows = bound.sql, session.settings.batch_size
    relations = bound.relations
    if session.engine.admission is not None and may_repeat(text, relations):
        _, widest = batch_limits(text, facts, rows, session.engine.result_limit)
        relations = GuardedRelations(text, relations, session, max(widest, facts.constants))
    with nullcontext() if nested else session.plan_lock, session.bridge.reading(relations, resolve):
        if joins is not PLAIN_JOINS:
            text, rows = joins.applied(text, rows, query, context)
        rows, widest = batch_limits(text, facts, rows, session.engine.result_limit)
        if not nested:
            session.switches.set(
                context,
                statistics=bound.uses_statistics,
                dynamic_filters=not facts.names_meet,
                round_robin=not facts.recursive,
                rows=rows,
                lambdas=ARROW in text,
            )
        else:
            statistics = None if bound.uses_statistics else False
            session.switches.set(context, statistics=statistics, lambdas=ARROW in text)
        return context.sql_with_options(text.replace(WIDEST, str(widest)), READ_ONLY, param_values=bound.parameters)


def batch_limits(sql: str, facts: PlanFacts, rows: int, result_limit: int) -> tuple[int, int]:
    """The rows of a batch, at most `rows`, and the bytes that a value in it may have. The copies that a
    statement's calls make of a batch are computed in one step, which nothing can stop. After longer values a statement
    is run again with smaller batches (`engine/run.py`)."""
    if facts.constants:
        rows = max(FEWEST, min(rows, MOST_OF_CONSTANTS // facts.constants))
    most, calls = 2 * result_limit, sql.count("(") + 1
    width = max(facts.constants, USUAL_WIDTH)
    rows = max(FEWEST if width * FEWEST <= most else 1, min(rows, most // (width * calls)))
    return rows, most // (rows * calls) if rows > 1 else most


def replan(
    plan: Plan,
    session: Session,
    query: Query,
    *,
    answers: Mapping[Key, Relation] = MappingProxyType({}),
    joins: Joins | None = None,
) -> Plan:
    """The same query over `answers` in place of its placeholders, or with other joins."""
    joins = plan.joins if joins is None else joins
    with session.plan_lock, translated(plan.bound.locate):
        relations = relations_over(plan.relations, answers, session, query, joins)
        return _plan_over(plan, relations, session, query, joins)


def relations_over(
    relations: Mapping[Key, Relation],
    answers: Mapping[Key, Relation],
    session: Session,
    query: Query,
    joins: Joins = PLAIN_JOINS,
) -> dict[Key, Relation]:
    """The relations with `answers` among them, and with views planned again over these."""
    found = {**relations, **answers}
    for key, relation in relations.items():  # what a view reads stands before it
        if relation.view_plan is not None:
            view = _plan_over(relation.view_plan, found, session, query, joins)
            found[key] = replace(relation, provider=view.frame.into_view())
    return found


def _plan_over(plan: Plan, relations: Mapping[Key, Relation], session: Session, query: Query, joins: Joins) -> Plan:
    bound = replace(plan.bound, relations=relations)
    frame = plan_frame(bound, session, query, joins)
    for derivation in plan.derivations:
        frame = derivation.of(frame)
    return replace(plan, bound=bound, frame=frame, joins=joins)
