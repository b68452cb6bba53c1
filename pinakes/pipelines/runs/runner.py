"""Runs a pipeline. Read this first.

project (`project/load.py`) -> checks -> a Spark with its catalogs (`workspace.py`) -> each step in order: loads,
`materialize.py`, `incremental.py`, each written in one commit (`writing.py`, `tables.py`) -> records (`records.py`)

A table that fails keeps its last good state; its dependents are skipped, and the other steps continue.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Collection
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from pinakes.core.errors import (
    CommitConflict,
    InvalidArgument,
    PinakesError,
    PipelineFailed,
    QueryCanceled,
    ServerUnavailable,
)
from pinakes.pipelines.project.check import check
from pinakes.pipelines.project.load import load_project
from pinakes.pipelines.project.model import Dataset, Key, LoadStep, Step
from pinakes.pipelines.project.problem import Problem, refuse
from pinakes.pipelines.runs import records as states
from pinakes.pipelines.runs.incremental import extend
from pinakes.pipelines.runs.load_step import jars_of_loads, load
from pinakes.pipelines.runs.materialize import define_view, materialize
from pinakes.pipelines.runs.records import Records, TableRecord
from pinakes.pipelines.runs.step import Attempt, Made, definition_of
from pinakes.pipelines.runs.tables import abandon
from pinakes.pipelines.runs.workspace import opened
from pinakes.pipelines.runs.writing import outcomes_of

if TYPE_CHECKING:
    from pinakes.engine.execution.query import Query
    from pinakes.engine.session import Session
    from pinakes.pipelines.project.graph import Graph


@dataclass(frozen=True, slots=True)
class Options:
    """The options of a run. `full_refresh` are tables that are rebuilt together with their dependents; None means no
    table, an empty collection all. `select` restricts the run to these tables."""

    full_refresh: Collection[str] | None = None
    select: Collection[str] = ()
    resume: bool = False

    def __str__(self) -> str:
        said = []
        if self.full_refresh is not None:
            said.append(f"--full-refresh {' '.join(self.full_refresh)}".strip())
        if self.select:
            said.append(f"--select {' '.join(self.select)}")
        return " ".join([*said, "--resume"] if self.resume else said)


@dataclass(slots=True)
class Report:
    """The result of a run."""

    run_id: str
    pipeline: str
    state: str = states.RUNNING
    tables: list[TableRecord] = field(default_factory=list)

    @property
    def failed(self) -> list[TableRecord]:
        return [t for t in self.tables if t.state == states.FAILED]


_TIMES = 3
"""Maximum number of attempts to update a table after concurrent changes."""

OnStep = Callable[[Step, str, TableRecord | None], None]
"""Called when a step starts (state RUNNING), and with its result."""


def run_pipeline(path: Path, session: Session, query: Query, options: Options, on_step: OnStep) -> Report:
    """Runs a pipeline. Raises PipelineInvalid before anything runs; later failures are in the report."""
    graph = ready(path, session, options)
    return _Run(graph, session, query, options, on_step).go()


def ready(path: Path, session: Session, options: Options) -> Graph:
    """Returns the project; raises if it has problems."""
    problems: list[Problem] = []
    graph = load_project(path, (session.scope.catalog, *session.scope.namespace), problems)
    refuse(problems)
    graph.selected([*(options.full_refresh or ()), *options.select], problems)
    refuse([*problems, *check(graph, session)])
    return graph


def refreshed(graph: Graph, options: Options) -> frozenset[Key]:
    """Returns the tables to rebuild: the named ones and their dependents; without names all."""
    if options.full_refresh is None:
        return frozenset()
    named = graph.selected(options.full_refresh, []) if options.full_refresh else list(graph.order)
    return frozenset(named) | graph.below(named)


def chosen(graph: Graph, options: Options) -> list[Key]:
    return graph.selected(options.select, []) if options.select else list(graph.order)


class _Run:
    def __init__(self, graph: Graph, session: Session, query: Query, options: Options, on_step: OnStep) -> None:
        self._graph, self._session, self._query = graph, session, query
        self._options, self._report = options, on_step
        self._records = Records(session, graph.spec.catalog, graph.spec.name)
        self._failed: dict[Key, str] = {}

    def go(self) -> Report:
        self._records.prepare()
        report = Report(self._begin(), self._graph.spec.name)
        try:
            jars = jars_of_loads(self._graph)
            with opened(self._graph, self._session, self._query, jars) as workspace, ExitStack() as stack:
                attempt = Attempt(
                    report.run_id,
                    secrets.token_hex(8),
                    workspace,
                    refreshed(self._graph, self._options),
                    resumes=self._options.resume,
                    stack=stack,
                )
                for key in chosen(self._graph, self._options):
                    self._step(self._graph.steps[key], attempt, report)
        except BaseException as error:
            stopped = isinstance(error, QueryCanceled | KeyboardInterrupt | SystemExit)
            self._records.end(report.run_id, states.CANCELED if stopped else states.FAILED, _words(error))
            raise
        report.state = states.FAILED if self._failed else states.COMPLETED
        self._records.end(report.run_id, report.state, next(iter(self._failed.values()), None))
        return report

    def _begin(self) -> str:
        if self._options.resume:
            run_id = self._records.unfinished()
            if run_id is None:
                raise InvalidArgument(f"no run of {self._graph.spec.name!r} is left to resume: run it without --resume")
            self._records.resume(run_id)
            return run_id
        run_id = f"{datetime.now(UTC):%Y%m%d_%H%M%S}_{secrets.token_hex(4)}"
        self._records.begin(run_id, str(self._graph.spec.path), str(self._options))
        return run_id

    def _step(self, step: Step, attempt: Attempt, report: Report) -> None:
        self._query.check()
        began = datetime.now(UTC)
        missing = [k for k in self._graph.inputs[step.key] if k in self._failed]
        if missing:
            said = f"{self._graph.spec.shown(missing[0])!r}, which it is made of, failed"
            self._failed.setdefault(step.key, said)
            self._done(step, states.SKIPPED, began, Made(), report, said)
            return
        self._report(step, states.RUNNING, None)
        try:
            made = _carry_out(step, attempt)
        except QueryCanceled as error:
            self._done(step, states.CANCELED, began, Made(), report, error.message)
            raise
        except PinakesError as error:
            self._fail(step, error, attempt, began, report)
            if isinstance(error, ServerUnavailable):
                raise  # no other table can be updated without Spark
            return
        self._done(step, states.UNCHANGED if made.was_there else states.COMPLETED, began, made, report)

    def _fail(self, step: Step, error: PinakesError, attempt: Attempt, began: datetime, report: Report) -> None:
        said = f"{self._graph.spec.shown(step.key)!r} ({step.where}): {error.code}: {_words(error)}"
        made = Made()
        if isinstance(step, Dataset):
            if isinstance(error, PipelineFailed):
                made.outcomes = attempt.workspace.on_spark(lambda: outcomes_of(error))
            broken = [o for o in made.outcomes if o.failed and o.expectation.action == "fail"]
            if broken:
                said += f" ({broken[0].failed:,} of {broken[0].passed + broken[0].failed:,} rows)"
            if step.kind != "temporary_view":
                abandon(self._session, step.key, attempt.token)
        self._failed[step.key] = said
        self._done(step, states.FAILED, began, made, report, said)

    def _done(
        self, step: Step, state: str, began: datetime, made: Made, report: Report, error: str | None = None
    ) -> None:
        kind = step.kind if isinstance(step, Dataset) else "load"
        definition = definition_of(step) if isinstance(step, Dataset) else ""
        record = TableRecord(step.key, kind, state, began, made, definition, str(step.where), error)
        if kind != "temporary_view" or state == states.FAILED:
            report.tables.append(record)
        if kind != "temporary_view":
            self._records.add(report.run_id, record)
        self._report(step, state, record)


def _carry_out(step: Step, attempt: Attempt) -> Made:
    if isinstance(step, LoadStep):
        return load(attempt, step)
    with attempt.workspace.set_to(step.settings):
        for _ in range(_TIMES - 1):
            try:
                return _made(step, attempt)
            except CommitConflict:  # a concurrent run, or the Spark of a run that has ended
                attempt.workspace.query.check()
        return _made(step, attempt)


def _made(step: Dataset, attempt: Attempt) -> Made:
    if step.kind == "temporary_view":
        return define_view(attempt, step)
    if step.kind == "table":
        return extend(attempt, step)
    return materialize(attempt, step)


def _words(error: BaseException) -> str:
    """Returns the message of an error, without the advice for interactive statements."""
    said = error.message if isinstance(error, PinakesError) else f"{type(error).__name__}: {error}"
    return said.replace("Spark can't run this statement: ", "").removesuffix(" SET engine = 'local'.")


def raise_failed(report: Report) -> None:
    """Raises an error that lists the failed tables, if there are any."""
    if not report.failed:
        return
    lines = "\n".join(f"  {t.error}" for t in report.failed)
    skipped = sum(t.state == states.SKIPPED for t in report.tables)
    more = f" {skipped} that are made of them were skipped." if skipped else ""
    raise PipelineFailed(
        f"run {report.run_id} of {report.pipeline!r}: {len(report.failed)} of {len(report.tables)} tables failed, and "
        f"are left as they were.{more}\n{lines}\n"
        "Correct the cause and run again; `--resume` skips the tables that this run completed."
    )
