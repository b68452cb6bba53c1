"""Collects the facts of EXPLAIN FULL, during planning and after execution.

The statement is planned like every query (`engine/planning/prepare.py`), so the facts are those of a real query.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pinakes.caches.lookups import Tally
from pinakes.engine.datafusion.error_translation import translated
from pinakes.engine.explain.cache_use import cache_use
from pinakes.engine.explain.facts import Explained, Operator, ResultCacheUse, Scan, Shared
from pinakes.engine.explain.operators import estimates_of, file_key, files_read, operators_of, showing_statistics
from pinakes.engine.explain.results import result_cache_use
from pinakes.engine.explain.scans import Evidence, scan_of
from pinakes.engine.planning.plan import plan_frame, relations_over
from pinakes.engine.planning.prepare import prepare
from pinakes.engine.remote.engine_selection import explain_choice, keeps_rows, wanted_engine

if TYPE_CHECKING:
    from datafusion import DataFrame
    from datafusion.plan import ExecutionPlan

    from pinakes.engine.planning.plan import Bound, ExecutablePlan
    from pinakes.engine.planning.planner import Planner
    from pinakes.engine.statement_context import Execution
    from pinakes.parser.statements import Planned, Span


@dataclass(slots=True)
class Explaining:
    """A statement to explain: it is planned at once, and run if it is analysed."""

    execution: Execution
    planner: Planner
    plan: ExecutablePlan
    estimates: str
    tally: Tally
    seconds: dict[str, float]
    """The planning times."""
    analyzed: bool
    kept: ResultCacheUse | None
    wanted: str
    """The requested engine."""
    _rows: int | None = None

    @classmethod
    def of(cls, execution: Execution, statement: Planned, span: Span, *, analyze: bool) -> Explaining:
        """Plans the query in the statement."""
        execution = replace(execution, explain=True, dry=not analyze)
        tally, planner = Tally(), execution.planner()
        with tally.counting():
            plan = planner.query(statement, span, is_result=True)
            executable = prepare(plan, execution)
        seconds = dict(execution.query.seconds)
        estimates = _estimates(execution, plan.bound, executable)
        kept = result_cache_use(statement, span, execution, plan)
        wanted = wanted_engine(statement, execution.session.settings)
        return cls(execution, planner, executable, estimates, tally, seconds, analyze, kept, wanted)

    def run(self) -> None:
        """Runs the query to its last row and keeps only the row count."""
        count = 0
        with self.tally.counting():
            for batch in self.execution.read(self.plan):
                count += batch.num_rows
        self._rows = count

    def facts(self) -> Explained:
        plan = self._physical(self.plan.frame)
        before = [(c, self._physical(c.frame)) for c in self.plan.computed]
        scans = self._scans([plan, *(p for _, p in before)])
        tables = {file_key(path): scan.table for scan in scans for path in scan.paths}
        root = self._operators(plan, self.estimates, tables)
        shared = tuple(Shared(c.name, c.uses, c.rows, self._operators(p, "", tables)) for c, p in before)
        reads = any(one.reads for one in (root, *(s.root for s in shared)))
        keeps, size = keeps_rows(self.plan.frame.optimized_logical_plan()), sum(s.bytes_planned or 0 for s in scans)
        choice = explain_choice(self.wanted, size, self.execution, keeps=keeps)
        return Explained(
            self.analyzed,
            choice.engine,
            choice.why,
            self._seconds(),
            scans if reads else tuple(map(_unread, scans)),
            shared,
            root,
            cache_use(self.tally.lookups),
            self._rows,
            self.kept,
        )

    def _physical(self, frame: DataFrame) -> ExecutionPlan:
        """Returns the physical plan that was run, or would be."""
        with self.execution.query.phase("plan"), translated():
            return self.execution.query.interruptible(frame.execution_plan)

    def _operators(self, plan: ExecutionPlan, estimates: str, tables: dict[str, str]) -> Operator:
        return operators_of(plan, estimates, tables, analyzed=self.analyzed)

    def _scans(self, plans: list[ExecutionPlan]) -> tuple[Scan, ...]:
        read = [r for plan in plans for r in files_read(plan)] if self.analyzed else None
        evidence = Evidence(self.tally.lookups, read)
        relations = [r for r in self.planner.relations.all() if r.shared is None]
        return tuple(scan_of(relation, self.plan.pruned.get(relation.key, ()), evidence) for relation in relations)

    def _seconds(self) -> dict[str, float]:
        """Returns the times by phase, without the overhead of explaining."""
        planned = {phase: spent for phase, spent in self.seconds.items() if phase != "execute"}
        return {**planned, "execute": self.execution.query.seconds["execute"]} if self.analyzed else planned


def _unread(scan: Scan) -> Scan:
    """Returns the scan for a plan that opens no file."""
    return replace(scan, is_read=False, bytes_planned=None if scan.bytes_planned is None else 0)


def _estimates(execution: Execution, bound: Bound, executable: ExecutablePlan) -> str:
    """Returns DataFusion's estimates, from its EXPLAIN of the same text over the same files."""
    session = execution.session
    bound = replace(bound, sql=f"EXPLAIN FORMAT INDENT {bound.sql}")
    with execution.query.phase("plan"), translated():
        with session.plan_lock, showing_statistics(session.context):
            relations = relations_over(bound.relations, executable.answers, session, execution.query)
            explained = plan_frame(replace(bound, relations=relations), session, execution.query)
        return estimates_of(explained, execution.query.interruptible)


def planned_bytes(statement: Planned, span: Span | None, execution: Execution) -> int:
    """Returns the bytes of all files that a query would read after pruning. The query is planned as for EXPLAIN."""
    execution = replace(execution, explain=True, dry=True)
    plan = execution.planner().query(statement, span, is_result=True)
    pruned = prepare(plan, execution).pruned
    relations = [r for r in plan.relations.values() if r.shared is None]
    found = [scan_of(r, pruned.get(r.key, ()), Evidence((), None)) for r in relations]
    return sum(scan.bytes_planned or 0 for scan in found)
