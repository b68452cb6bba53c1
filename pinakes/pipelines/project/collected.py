"""Collects the declarations of a project's files and their problems."""

from __future__ import annotations

from dataclasses import dataclass, field

from pinakes.core.suggestions import did_you_mean
from pinakes.pipelines.project.model import KINDS, Dataset, Flow, Key, Spec, Step
from pinakes.pipelines.project.problem import Problem, Where


@dataclass(slots=True)
class Collected:
    spec: Spec
    problems: list[Problem]
    steps: dict[Key, Step] = field(default_factory=dict)
    flows: list[tuple[Key, Flow]] = field(default_factory=list)
    faulty: set[Key] = field(default_factory=set)
    """Tables with an invalid flow, which is reported already."""

    def fault(self, where: Where, message: str) -> None:
        self.problems.append(Problem(where, message))

    def add(self, step: Step) -> bool:
        """Adds a step; returns whether its name was free."""
        name = self.spec.shown(step.key)
        other = self.steps.get(step.key) or self.steps.get((step.key[-1],))
        if isinstance(step, Dataset) and step.kind == "temporary_view":
            other = other or self.steps.get(self.spec.key_of(step.key))
        if other is not None:
            self.fault(step.where, f"{name!r} is there twice: {other.where} has it, too. Give one another name")
            return False
        self.steps[step.key] = step
        return True

    def add_flow(self, target: Key, flow: Flow) -> None:
        self.flows.append((target, flow))

    def join(self) -> None:
        """Assigns the flows and the expectations of the spec to their tables, after all files were read."""
        for key, flow in self.flows:
            found = self.steps.get(key)
            if not isinstance(found, Dataset):
                said = "is a load" if found else f"is not a table of this pipeline.{self.hint(key)}"
                self.fault(flow.where, f"the flow {flow.name!r} is for {self.spec.shown(key)!r}, which {said}")
            elif found.kind != "table" and found.flows:
                self.fault(flow.where, f"a {KINDS[found.kind]} has one query: {self.spec.shown(key)!r} has two")
            else:
                found.flows.append(flow)
        self._expect()
        for step in self.steps.values():
            if isinstance(step, Dataset):
                self._check(step)

    def _expect(self) -> None:
        for name, expectations in self.spec.expectations.items():
            key = self.spec.key_of(tuple(name.split(".")))
            found, where = self.steps.get(key), self.spec.expected_at[name]
            if isinstance(found, Dataset):
                found.expectations += expectations
            elif found is not None:
                self.fault(where, f"{name!r} is a load: expect something of the table that is made of it")
            else:
                self.fault(where, f"{name!r} is not a table of this pipeline.{self.hint(key)}")

    def _check(self, step: Dataset) -> None:
        name, kind = self.spec.shown(step.key), KINDS[step.kind]
        names = [e.name for e in step.expectations]
        for duplicates in sorted({n for n in names if names.count(n) > 1}):
            self.fault(step.where, f"{name!r} has two expectations of the name {duplicates!r}")
        if step.kind == "temporary_view" and step.expectations:
            self.fault(step.where, f"{name!r} is a temporary view: expect something of a table that is made of it")
        if not step.flows and step.key not in self.faulty:
            self.fault(step.where, f"nothing fills {name!r}: it has neither a query nor a flow")
        for flow in step.flows:
            if step.kind == "table" and not flow.streams:
                said = "reads nothing as a stream (STREAM t in SQL, spark.readStream.table in Python)"
                self.fault(flow.where, f"{name!r} is an {kind} and {said}: make it a materialized view")
            if step.kind != "table" and flow.streams:
                said = "read without STREAM, or make it a streaming table"
                self.fault(flow.where, f"{name!r} is a {kind}, which is made of all rows: {said}")

    def hint(self, key: Key) -> str:
        names = [self.spec.shown(known) for known in self.steps]
        return did_you_mean(self.spec.shown(key), names) or f" There are: {', '.join(sorted(names)) or 'none'}."
