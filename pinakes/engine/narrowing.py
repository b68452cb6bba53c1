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
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from datafusion import DataFrame, Expr, SessionContext
    from datafusion.plan import LogicalPlan

    from pinakes.engine.relation import Key, Relation
    from pinakes.engine.scan.table import IcebergScan, Watched
    from pinakes.engine.session import Session


@dataclass(slots=True)
class _Plan:
    frame: DataFrame
    relations: dict[Key, Relation]
    again: Callable[[], DataFrame]


@dataclass(slots=True)
class Plans:
    """Those of one statement."""

    _plans: list[_Plan] = field(default_factory=list)
    _watched: dict[str, Watched] = field(default_factory=dict)

    def add(self, frame: DataFrame, relations: dict[Key, Relation], again: Callable[[], DataFrame]) -> None:
        """A plan that has shadows in it: among `relations`, by which `again` plans the same once more."""
        self._plans.append(_Plan(frame, relations, again))

    def derived(self, frame: DataFrame, make: Callable[[DataFrame], DataFrame]) -> DataFrame:
        """A plan that is made of another, and is narrowed as that one is."""
        made, plan = make(frame), self._of(frame)
        if plan is not None:
            self.add(made, plan.relations, lambda: make(plan.again()))
        return made

    def watch(self, files: Sequence[Watched]) -> None:
        """Files that are read natively: they must be there, whole, from the first row to the last."""
        self._watched.update({file.path: file for file in files})

    def check(self) -> None:
        for file in self._watched.values():
            file.check()

    def narrowed(self, frame: DataFrame, optimized: LogicalPlan, session: Session) -> DataFrame:
        """The plan to run in place of one; the same if there is nothing to narrow in it."""
        plan = self._of(frame)
        if plan is None:
            return frame
        with session.plan_lock, _narrowed(plan.relations, self._chosen(plan, optimized, session.context)):
            return plan.again()

    def _of(self, frame: DataFrame) -> _Plan | None:
        return next((p for p in self._plans if p.frame is frame), None)

    def _chosen(self, plan: _Plan, optimized: LogicalPlan, context: SessionContext) -> dict[Key, Relation]:
        shadows = {key: relation.scan for key, relation in plan.relations.items() if relation.scan is not None}
        wanted = _conditions(optimized, list(shadows.values()), context)
        chosen = {}
        for key, scan in shadows.items():
            narrowed = scan.narrowed(wanted[scan.marker])
            self.watch(narrowed.watched)
            chosen[key] = replace(plan.relations[key], provider=narrowed.provider, scan=None)
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


def _conditions(
    optimized: LogicalPlan, scans: Sequence[IcebergScan], context: SessionContext
) -> dict[bytes, list[list[Expr]]]:
    """The conditions of each scan of a shadow, by the shadow's marker. A plan that reads what can't be serialised, such
    as rows in memory, tells none."""
    from datafusion import Expr

    from pinakes.engine.scan.wire import scans_of

    plan = serialized(optimized, context)
    if plan is None:
        return {scan.marker: [[]] for scan in scans}
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
