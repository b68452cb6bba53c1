"""A load as a step of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pinakes.pipelines.loads import FileSource, LoadContext, jars_for, open_context, run_load
from pinakes.pipelines.project.model import LoadStep
from pinakes.pipelines.runs.step import Input, Made

if TYPE_CHECKING:
    from pinakes.pipelines.project.graph import Graph
    from pinakes.pipelines.runs.step import Attempt
    from pinakes.spark.jars import Jars


def load(attempt: Attempt, step: LoadStep) -> Made:
    """Loads the new records of the source, or with a full refresh all of them."""
    found = run_load(_context(attempt), step.load, attempt.run_id, full_refresh=step.key in attempt.full_refresh)
    source = step.load.source
    is_files = isinstance(source, FileSource)
    name = source.path if isinstance(source, FileSource) else (source.table or source.query or "")
    return Made(
        rows=found.rows,
        bad_rows=found.bad_rows,
        files=found.files,
        snapshot=found.snapshot_id,
        inputs=[Input(step.key[-1], (name,), "files" if is_files else "jdbc", None, None)],
        was_there=not found.batches,
    )


def _context(attempt: Attempt) -> LoadContext:
    """Opens one Spark session for all loads of a run, separate from that of the other steps."""
    if attempt.loads is None:
        graph, session = attempt.workspace.graph, attempt.workspace.session
        aliases = [step.key[0] for step in steps_of(graph)]
        opened = open_context(session, aliases, query=attempt.workspace.query, jars=jars_of_loads(graph))
        attempt.loads = attempt.stack.enter_context(opened)
    return attempt.loads


def steps_of(graph: Graph) -> list[LoadStep]:
    return [step for step in graph.steps.values() if isinstance(step, LoadStep)]


def jars_of_loads(graph: Graph) -> Jars:
    return jars_for(step.load for step in steps_of(graph))
