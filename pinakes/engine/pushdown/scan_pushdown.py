"""Plans narrowed to the files that can match, between the moment they are planned and the moment they are run.

A table with many files is planned as a shadow (`scan/table.py`). When the plan is to be run, DataFusion has optimised
it and has pushed conditions down to every scan, also those within subqueries: they are read from the serialised plan,
the files are chosen by them, and the statement is planned once more over these files. The optimised plan itself is not
run: it would be optimised twice, which may lose a LIMIT.

Is that sound? The optimised plan equals the planned one for whatever rows the tables have. So it does for those of the
chosen files; and it takes from its scans only rows that meet their conditions, all of which are in these files.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from pinakes.caches.tally import asking_about
from pinakes.engine.datafusion.workarounds.join_filter_columns import refuse_astray, refuse_untyped

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from datafusion import DataFrame, Expr, SessionContext
    from datafusion.plan import LogicalPlan

    from pinakes.engine.binding.relation import Key, Relation
    from pinakes.engine.execution.query import Query
    from pinakes.engine.iceberg.scan.file_integrity import Local, Remote, Watched
    from pinakes.engine.iceberg.scan.table import IcebergScan, Narrowed
    from pinakes.engine.planning.optimize.compute import Computed
    from pinakes.engine.session import Session


@dataclass(slots=True)
class _Plan:
    frame: DataFrame
    relations: dict[Key, Relation]
    again: Callable[[], DataFrame]
    is_shadowed: bool = True
    """Some of its relations can't be read before they are narrowed."""
    chosen: dict[Key, Relation] = field(default_factory=dict)
    told: dict[Key, Told] = field(default_factory=dict)
    ran: DataFrame | None = None
    """What was made of it to be run."""


@dataclass(frozen=True, slots=True)
class Told:
    """How a table was narrowed, for EXPLAIN FULL."""

    scan: IcebergScan
    conditions: list[list[Expr]] | None
    """Those of each scan of it in the plan; None where they can't be known."""
    narrowed: Narrowed


@dataclass(slots=True)
class Plans:
    """Those of one statement."""

    _plans: list[_Plan] = field(default_factory=list)
    _watched: dict[tuple[str, str], Watched] = field(default_factory=dict)
    _looked_at: int = 0
    """How many files there were when they were last looked at: they only become more."""
    explains: bool = False
    """The statement is explained: tables that are too small to be narrowed are looked at, too, and all is told."""
    reads_plainly: bool = False
    """Some files go through pyiceberg's reader."""
    dry: bool = False
    """Nothing is run: subqueries that would be computed first have no rows."""
    may_go_astray: bool = False
    """Some plan may be one that is answered wrongly (`engine/datafusion/workarounds/join_filter_columns.py`)."""
    untyped: bool = False
    """Some text has a form whose types are not known (`engine/datafusion/workarounds/join_filter_columns.py`)."""
    unchecked: bool = False
    """Numbers are computed whose types are not known."""
    names_meet: bool = False
    """Columns of one name may meet in some plan (`engine/datafusion/workarounds/join_filter_columns.py`)."""
    recurses: bool = False
    """Some plan may be WITH RECURSIVE. Batches of a recursion are not handed round to several threads: a filter would
    wait for full batches on each, and with it a LIMIT that has long been met."""
    calls: bool | None = None
    """Whether texts get calls in their conditions, and how loosely
    (`engine/datafusion/workarounds/cancellable_joins.py`)."""
    keyless: bool = False
    """Whether there is a join that has a condition and no keys."""
    crosses: bool = False
    """Whether there is a join without a condition."""
    constants: int = 0
    """The bytes of the long constants in some text, of which each row of a batch may have copies."""
    guarded: bool = False
    """Whether the guard gave some relation otherwise than it is."""
    computed: list[Computed] = field(default_factory=list)
    """The subqueries that were computed once for several uses, for EXPLAIN."""
    at_end: list[Callable[[], None]] = field(default_factory=list)
    """What is to be done when the statement is over."""

    def forget(self) -> None:
        """The statement is over. Plans and planners know each other: without this, what they hold (rows that were kept,
        files) would stay until the next round of Python's collector."""
        self._plans.clear()
        self._watched.clear()
        self.computed.clear()
        while self.at_end:
            self.at_end.pop()()

    def add(
        self, frame: DataFrame, relations: dict[Key, Relation], again: Callable[[], DataFrame], *, is_shadowed: bool
    ) -> None:
        """A plan; it may have shadows in it: among `relations`, by which `again` plans the same once more."""
        self._plans.append(_Plan(frame, relations, again, is_shadowed))

    def derived(self, frame: DataFrame, make: Callable[[DataFrame], DataFrame]) -> DataFrame:
        """A plan that is made of another, and is narrowed as that one is."""
        made, plan = make(frame), self._known(frame)
        if plan is not None:
            self.add(made, plan.relations, lambda: make(plan.again()), is_shadowed=plan.is_shadowed)
        return made

    def stoppable(self, frame: DataFrame, optimized: LogicalPlan, session: Session) -> DataFrame:
        """The same plan in a form that can be stopped, also within joins that pair many rows with many. What DataFusion
        makes of it differs from `optimized` in nothing that is asked of it here."""
        plan = self._known(frame)
        if plan is None or self.calls is not None or self.crosses or "Join:" not in optimized.display_indent():
            return frame
        from pinakes.engine.datafusion.workarounds.cancellable_joins import (
            LOOSENESS,
            compares_pairs,
            crosses,
            differs_by_calls,
            has_no_keys,
        )

        self.keyless = has_no_keys(optimized)
        self.crosses = crosses(optimized, plan.relations.values())
        for self.calls in LOOSENESS if compares_pairs(optimized) else ():
            again = self._again(plan, session)
            if differs_by_calls(optimized, again.optimized_logical_plan()):
                return again
        self.calls = None
        return self._again(plan, session) if self.crosses else frame

    def _again(self, plan: _Plan, session: Session) -> DataFrame:
        with session.plan_lock, _narrowed(plan.relations, {}):
            return plan.again()

    def watch(self, files: Sequence[Watched]) -> None:
        """Files that are read natively: they must be there, whole, from the first row to the last."""
        self._watched.update({(file.host, file.path): file for file in files})

    @property
    def watched(self) -> tuple[Watched, ...]:
        return tuple(self._watched.values())

    def check_first(self) -> None:
        """The same before the first row, unless that was done for these files already."""
        if self._looked_at != len(self._watched):
            self.check()

    def check(self) -> None:
        """Look at those of this machine; at others a `Lookout` does."""
        self._looked_at = len(self._watched)
        for file in self._watched.values():
            if not file.host:
                file.check()

    @property
    def has_local(self) -> bool:
        """Whether files of this machine are read natively."""
        return any(not file.host for file in self._watched.values())

    def local(self) -> list[Local]:
        return [file for file in self._watched.values() if not file.host]  # type: ignore[misc]  # Remote has one

    def remote(self) -> list[Remote]:
        """The files of object stores that are read natively."""
        return [file for file in self._watched.values() if file.host]  # type: ignore[misc]  # Local has none

    def sharing(self, frame: DataFrame) -> dict[Key, Relation] | None:
        """The relations of a plan, if there are some among them that are computed once for several uses."""
        plan = self._of(frame)
        shares = plan is not None and any(r.shared is not None for r in plan.relations.values())
        return plan.relations if plan is not None and shares else None

    def narrowed(
        self,
        frame: DataFrame,
        optimized: LogicalPlan,
        session: Session,
        query: Query,
        computed: Mapping[Key, Relation] = MappingProxyType({}),
    ) -> DataFrame:
        """The plan to run in place of one; the same if there is nothing to narrow in it. `computed` are relations that
        it reads the rows of."""
        if self.may_go_astray:
            refuse_astray(optimized)
        if self.untyped:
            refuse_untyped(optimized, unchecked=self.unchecked)
        plan = self._of(frame)
        if plan is None:
            return frame
        with query.phase("prune"):  # a catalog may be asked for its metadata: nobody is to wait for that
            plan.ran = self._answered(plan, optimized, session.context)
            if plan.ran is None or self.explains:
                plan.chosen = {**self._chosen(plan, optimized, session.context), **computed}
        if plan.ran is None:
            with session.plan_lock, _narrowed(plan.relations, plan.chosen):
                plan.ran = plan.again()
        return plan.ran

    def renewed(self, ran: DataFrame, session: Session, query: Query) -> DataFrame | None:
        """A narrowed plan that object stores refuse to be read for, with keys that catalogs lend by now; None if they
        are the same."""
        plan = next((p for p in self._plans if p.ran is ran), None)
        scans = [] if plan is None else [r.scan for r in plan.relations.values() if r.scan is not None]
        tables = {scan.name for scan in scans if scan.renewed()}
        if plan is None or not tables:
            return None
        self._watched = {at: file for at, file in self._watched.items() if not file.host or file.table not in tables}
        self._looked_at = 0
        kept = {key: r for key, r in plan.chosen.items() if plan.relations[key].scan is None}
        return self.narrowed(plan.frame, plan.frame.optimized_logical_plan(), session, query, kept)

    @contextmanager
    def as_narrowed(self, frame: DataFrame, session: Session) -> Iterator[None]:
        """What is planned within reads the files that were chosen for a plan."""
        plan = self._of(frame)
        with session.plan_lock, _narrowed(plan.relations, plan.chosen) if plan is not None else nullcontext():
            yield

    def told(self, key: Key) -> list[Told]:
        """How a table was narrowed; several times, if a part of the statement is run before the rest."""
        return [plan.told[key] for plan in self._plans if key in plan.told]

    def _of(self, frame: DataFrame) -> _Plan | None:
        """A plan that has shadows in it."""
        plan = self._known(frame)
        return plan if plan is not None and plan.is_shadowed else None

    def _known(self, frame: DataFrame) -> _Plan | None:
        return next((p for p in self._plans if p.frame is frame), None)

    def _answered(self, plan: _Plan, optimized: LogicalPlan, context: SessionContext) -> DataFrame | None:
        """The answer itself, where the metadata of a table has it."""
        scans = [relation.scan for relation in plan.relations.values() if relation.scan is not None]
        scans = [scan for scan in scans if scan.is_worth_narrowing]  # the others are there to be explained
        if not scans:
            return None
        from pinakes.engine.iceberg.scan.metadata_aggregates import answered

        return answered(optimized, scans, context)

    def _chosen(self, plan: _Plan, optimized: LogicalPlan, context: SessionContext) -> dict[Key, Relation]:
        shadows = {key: relation.scan for key, relation in plan.relations.items() if relation.scan is not None}
        wanted = conditions_of(optimized, list(shadows.values()), context) if shadows else {}
        shares = any(relation.shared is not None for relation in plan.relations.values())
        chosen = {}
        for key, scan in shadows.items():
            conditions = None if wanted is None else wanted[scan.marker]
            if shares and conditions == []:  # what is computed before reads it, and has files of its own
                continue
            with asking_about(key):
                narrowed = scan.narrowed(conditions or () if scan.is_worth_narrowing else ())
            self.watch(narrowed.watched)
            self.reads_plainly |= bool(narrowed.plain)
            if self.explains:
                plan.told[key] = Told(scan, conditions, narrowed)
            chosen[key] = replace(plan.relations[key], provider=narrowed.provider, scan=None)
        for key, relation in plan.relations.items():
            if relation.system is not None:
                chosen[key] = replace(relation, provider=relation.system.answered(optimized), system=None)
            if relation.worker is not None:
                chosen[key] = replace(relation, provider=relation.worker.answered(optimized), worker=None)
        return chosen


@contextmanager
def _narrowed(relations: dict[Key, Relation], chosen: dict[Key, Relation]) -> Iterator[None]:
    """The relations with those that were chosen in their place, and with views made anew over them."""
    before = dict(relations)
    relations.update(chosen)
    try:
        for key, relation in before.items():  # what a view reads stands before it
            if relation.remade is not None:
                relations[key] = replace(relation, provider=relation.remade())
        yield
    finally:
        relations.clear()
        relations.update(before)


def conditions_of(
    optimized: LogicalPlan, scans: Sequence[IcebergScan], context: SessionContext
) -> dict[bytes, list[list[Expr]]] | None:
    """The conditions of each scan of a shadow, by the shadow's marker. A plan that reads what can't be serialised, such
    as rows in memory, tells none."""
    from datafusion import Expr

    from pinakes.engine.datafusion.plan_proto import scans_of

    plan = serialized(optimized, context)
    if plan is None:
        return None
    return {
        scan.marker: [[Expr.from_bytes(e, context) for e in filters] for filters in scans_of(plan, scan.marker)]
        for scan in scans
    }


def serialized(plan: LogicalPlan, context: SessionContext) -> bytes | None:
    """None when DataFusion can't: then no condition is known, and every file is read."""
    try:
        return bytes(plan.to_bytes(context))
    except Exception:  # noqa: BLE001 - DataFusion has no narrower one, and whatever it is, the plan itself will tell
        return None
