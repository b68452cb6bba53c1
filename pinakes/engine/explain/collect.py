"""Collects the facts of EXPLAIN FULL, during planning and after execution.

The statement is planned like every query (`Execution.ready`), so the facts are those of a real query.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pinakes.caches.tally import Tally
from pinakes.engine.datafusion.error_translation import translated
from pinakes.engine.explain.cache_use import cache_use
from pinakes.engine.explain.facts import Explained, Operator, ResultCacheUse, Scan, Shared
from pinakes.engine.explain.operators import estimates_of, file_key, files_read, operators_of, showing_statistics
from pinakes.engine.explain.results import result_cache_use
from pinakes.engine.explain.scans import Evidence, scan_of
from pinakes.engine.remote.engine_selection import LOCAL, SPARK, Choice, hindrance, judged, keeps_rows, wanted_engine

if TYPE_CHECKING:
    import pyarrow as pa
    from datafusion import DataFrame
    from datafusion.plan import ExecutionPlan

    from pinakes.engine.planning.planner import Planner
    from pinakes.engine.statement_context import Execution
    from pinakes.parser.statements import Planned, Span


@dataclass(slots=True)
class Explaining:
    """A statement to explain: it is planned at once, and run if it is analysed."""

    execution: Execution
    planner: Planner
    frame: DataFrame
    """The plan to run."""
    schema: pa.Schema
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
        execution.plans.explains, execution.plans.dry = True, not analyze
        tally, planner = Tally(), execution.planner()
        with tally.counting():
            frame = planner.query(statement, span)
            ready, schema = execution.ready(frame)
        seconds = dict(execution.query.seconds)
        estimates = _estimates(execution, planner, statement, span, frame)
        kept = result_cache_use(statement, span, execution, planner, frame)
        wanted = wanted_engine(statement, execution.session.settings)
        return cls(execution, planner, ready, schema, estimates, tally, seconds, analyze, kept, wanted)

    def run(self) -> None:
        """Runs the query to its last row and keeps only the row count."""
        count = 0
        with self.tally.counting():
            for batch in self.execution.read(self.frame, self.schema):
                count += batch.num_rows
        self._rows = count

    def facts(self) -> Explained:
        plan = self._physical(self.frame)
        before = [(c, self._physical(c.frame)) for c in self.execution.plans.computed]
        scans = self._scans([plan, *(p for _, p in before)])
        tables = {file_key(path): scan.table for scan in scans for path in scan.paths}
        root = self._operators(plan, self.estimates, tables)
        shared = tuple(Shared(c.name, c.uses, c.rows, self._operators(p, "", tables)) for c, p in before)
        reads = any(one.reads for one in (root, *(s.root for s in shared)))
        return Explained(
            self.analyzed,
            *choice_of(self.wanted, scans, self.execution, keeps=keeps_rows(self.frame.optimized_logical_plan())),
            self._seconds(),
            scans if reads else tuple(map(_unread, scans)),
            shared,
            root,
            cache_use(self.tally.asked),
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
        evidence, told = Evidence(self.tally.asked, read), self.execution.plans.told
        relations = [r for r in self.planner.relations.all() if r.shared is None]
        return tuple(scan_of(relation, told(relation.key), evidence) for relation in relations)

    def _seconds(self) -> dict[str, float]:
        """Returns the times by phase, without the overhead of explaining."""
        planned = {phase: spent for phase, spent in self.seconds.items() if phase != "execute"}
        return {**planned, "execute": self.execution.query.seconds["execute"]} if self.analyzed else planned


def choice_of(wanted: str, scans: Iterable[Scan], execution: Execution, *, keeps: bool) -> Choice:
    """Returns the engine that would run the query, and the reason."""
    if wanted == LOCAL:
        return Choice(LOCAL, "DataFusion in this process, as asked for by SET engine or a hint, or by default")
    if wanted == SPARK:
        hindered = hindrance(execution)
        return Choice(SPARK, "asked for by SET engine or a hint" + (f"; it would fail: {hindered}" if hindered else ""))
    return judged(sum(scan.bytes_planned or 0 for scan in scans), execution, keeps=keeps)


def _unread(scan: Scan) -> Scan:
    """Returns the scan for a plan that opens no file."""
    return replace(scan, is_read=False, bytes_planned=None if scan.bytes_planned is None else 0)


def _estimates(execution: Execution, planner: Planner, statement: Planned, span: Span, frame: DataFrame) -> str:
    """Returns DataFusion's estimates, from its EXPLAIN of the same text over the same files."""
    session = execution.session
    text = planner.rewrite(statement, span)
    with execution.plans.as_narrowed(frame, session), showing_statistics(session.context):
        explained = planner.plan(f"EXPLAIN FORMAT INDENT {text.text}", statement)
    with execution.query.phase("plan"), translated():
        return estimates_of(explained, execution.query.interruptible)


def planned_bytes(statement: Planned, span: Span | None, execution: Execution) -> int:
    """Returns the bytes of all files that a query would read after pruning. The query is planned as for EXPLAIN."""
    execution.plans.explains, execution.plans.dry = True, True
    try:
        planner = execution.planner()
        execution.ready(planner.query(statement, span))
        relations = [r for r in planner.relations.all() if r.shared is None]
        found = [scan_of(r, execution.plans.told(r.key), Evidence((), None)) for r in relations]
        return sum(scan.bytes_planned or 0 for scan in found)
    finally:
        execution.plans.explains, execution.plans.dry = False, False
