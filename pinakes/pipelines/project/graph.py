"""The execution order of a pipeline's tables, and their dependencies."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from pinakes.core.suggestions import did_you_mean
from pinakes.pipelines.project.model import Dataset, Flow, Key, Read, Spec, Step
from pinakes.pipelines.project.problem import Problem, Where


@dataclass(slots=True)
class Graph:
    """The steps with their inputs and their execution order."""

    spec: Spec
    steps: Mapping[Key, Step]
    inputs: dict[Key, dict[Key, None]] = field(default_factory=dict)
    """The inputs of each step, in the order of its text: steps of the pipeline, and existing tables."""
    order: list[Key] = field(default_factory=list)

    def meaning(self, read: Read) -> Key:
        """Resolves a name of a query: a view of the pipeline, or a table by the name rules of the spec."""
        return read.parts if read.parts in self.steps else self.spec.key_of(read.parts)

    def sources(self) -> list[tuple[Key, Flow]]:
        """Returns the tables that are read but not created here, each with a flow that reads it."""
        found: dict[Key, Flow] = {}
        for step in self.datasets():
            for flow in step.flows:
                for read in flow.reads:
                    if (key := self.meaning(read)) not in self.steps:
                        found.setdefault(key, flow)
        return list(found.items())

    def datasets(self) -> Iterable[Dataset]:
        return (step for step in self.steps.values() if isinstance(step, Dataset))

    def below(self, keys: Iterable[Key]) -> set[Key]:
        """Returns all direct and indirect dependents of these steps."""
        found = set(keys)
        for key in self.order:
            if not found.isdisjoint(self.inputs.get(key, ())):
                found.add(key)
        return found - set(keys)

    def selected(self, names: Iterable[str], problems: list[Problem]) -> list[Key]:
        """Returns the steps of these names, in order, with the views that they read."""
        wanted: set[Key] = set()
        for name in names:
            key = self.spec.key_of(tuple(name.split(".")))
            if key not in self.steps:
                known = [self.spec.shown(k) for k, s in self.steps.items() if not _is_view(s)]
                hint = did_you_mean(name, known) or f" There are: {', '.join(sorted(known))}."
                problems.append(Problem(_at(self.spec), f"{name!r} is not a table of this pipeline.{hint}"))
            else:
                wanted.add(key)
        for key in reversed(self.order):
            if key in wanted:
                wanted |= {k for k in self.inputs[key] if _is_view(self.steps.get(k))}
        return [key for key in self.order if key in wanted]


def _is_view(step: Step | None) -> bool:
    return isinstance(step, Dataset) and step.kind == "temporary_view"


def _at(spec: Spec) -> Where:
    return Where(spec.path.name)


def graph_of(spec: Spec, steps: Mapping[Key, Step], problems: list[Problem]) -> Graph:
    """Builds the graph; a cycle is a problem that lists its tables."""
    graph = Graph(spec, steps)
    for key, step in steps.items():
        flows = step.flows if isinstance(step, Dataset) else []
        graph.inputs[key] = {graph.meaning(read): None for flow in flows for read in flow.reads}
    done: set[Key] = set()
    for key in steps:
        _visit(graph, key, [], done, problems)
    _check_streams(graph, problems)
    return graph


def _visit(graph: Graph, key: Key, way: list[Key], done: set[Key], problems: list[Problem]) -> None:
    if key in done or key not in graph.steps:
        return
    if key in way:
        circle = [graph.spec.shown(k) for k in [*way[way.index(key) :], key]]
        said = f"tables that are made of themselves: {' ← '.join(circle)}. One of them has to read something else"
        problems.append(Problem(graph.steps[key].where, said))
        return
    for inner in graph.inputs[key]:
        _visit(graph, inner, [*way, key], done, problems)
    if key not in done:
        done.add(key)
        graph.order.append(key)


def _check_streams(graph: Graph, problems: list[Problem]) -> None:
    for step in graph.datasets():
        for flow in step.flows:
            for read in flow.streams:
                source = graph.steps.get(graph.meaning(read))
                if isinstance(source, Dataset) and source.kind != "table":
                    name = graph.spec.shown(source.key)
                    said = "is rebuilt at each run, so none of its rows are new"
                    problems.append(Problem(flow.where, f"STREAM can't be used with {name!r}, which {said}"))
