"""Plans a run without executing it and without a Spark: `pinakes pipeline plan`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from pinakes.pipelines.loads import FileSource, new_files
from pinakes.pipelines.project.model import Dataset, LoadStep, Step
from pinakes.pipelines.runs.incremental import positions_of
from pinakes.pipelines.runs.runner import chosen, ready, refreshed
from pinakes.pipelines.runs.tables import head_of, since, table_of

if TYPE_CHECKING:
    from pinakes.engine.session import Session
    from pinakes.pipelines.project.graph import Graph
    from pinakes.pipelines.project.model import Flow
    from pinakes.pipelines.runs.runner import Options


class Planned(NamedTuple):
    """A planned step: its inputs and its effect."""

    name: str
    kind: str
    inputs: tuple[str, ...]
    what: str
    where: str


def plan_pipeline(path: Path, session: Session, options: Options) -> list[Planned]:
    graph = ready(path, session, options)
    full_refresh = refreshed(graph, options)
    found = []
    for key in chosen(graph, options):
        step = graph.steps[key]
        inputs = tuple(graph.spec.shown(k) for k in graph.inputs[key])
        kind = step.kind if isinstance(step, Dataset) else "load"
        what = _what(step, graph, session, is_full_refresh=key in full_refresh)
        found.append(Planned(graph.spec.shown(key), kind, inputs, what, str(step.where)))
    return found


def _what(step: Step, graph: Graph, session: Session, *, is_full_refresh: bool) -> str:
    if isinstance(step, LoadStep):
        return _load(step, session, is_full_refresh=is_full_refresh)
    if step.kind == "temporary_view":
        return "defined for the run"
    table = table_of(session, step.key)
    if table is None:
        return "created"
    if step.kind == "materialized_view":
        return "all rows rebuilt"
    if is_full_refresh:
        return "rebuilt from all rows"
    known = positions_of(table)
    return "; ".join(_new(flow, known.get(flow.name), graph, session) for flow in step.flows)


def _load(step: LoadStep, session: Session, *, is_full_refresh: bool) -> str:
    if not isinstance(step.load.source, FileSource):
        return (
            "rows beyond the last are loaded"
            if step.load.source.cursor and not is_full_refresh
            else "all rows are loaded"
        )
    plan = new_files(session, step.load)
    files = plan.loaded + len(plan.new) + len(plan.changed) if is_full_refresh else len(plan.new)
    said = [
        f"{files:,} {'files' if is_full_refresh else 'new files'} ({plan.bytes:,} bytes), {plan.loaded:,} loaded before"
    ]
    if plan.resumed:
        said.append(f"{len(plan.resumed):,} of a load that was interrupted")
    if plan.changed:
        said.append(f"{len(plan.changed):,} changed since they were loaded ({plan.changed[0]})")
    return ", ".join(said)


def _new(flow: Flow, position: int | None, graph: Graph, session: Session) -> str:
    source = graph.meaning(flow.streams[0])
    name = graph.spec.shown(source)
    table = table_of(session, source)
    if table is None or position is None:
        return f"all rows of {name}"
    head = head_of(table)
    if source in graph.steps:
        return f"rows that come into {name} after snapshot {position}"
    between = since(table.handle.metadata, position)
    if head is not None and between is None:
        return f"fails: what is new in {name} can't be determined, --full-refresh is needed"
    return f"rows of {len(between or ()):,} new snapshots of {name}" if between else f"nothing is new in {name}"
