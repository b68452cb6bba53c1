"""One step of a run: its inputs and its result."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from pinakes.pipelines.runs.tables import DEFINITION, PIPELINE, RUN_ID

if TYPE_CHECKING:
    from pinakes.pipelines.loads import LoadContext
    from pinakes.pipelines.project.model import Dataset, Key
    from pinakes.pipelines.runs.expectations import Outcome
    from pinakes.pipelines.runs.workspace import Workspace


class Input(NamedTuple):
    """The input of a flow: a snapshot of a source, or the changes between two snapshots."""

    flow: str
    source: Key
    kind: str
    """table, files or jdbc."""
    from_snapshot: int | None
    snapshot: int | None


@dataclass(slots=True)
class Made:
    """The result of a step. A step without work has no rows and no new snapshot."""

    rows: int = 0
    bad_rows: int = 0
    files: int = 0
    snapshot: int | None = None
    outcomes: list[Outcome] = field(default_factory=list)
    inputs: list[Input] = field(default_factory=list)
    was_there: bool = False
    """Whether there was nothing to do."""


@dataclass(slots=True)
class Attempt:
    """A run in one process. `token` is unique to the process; `run_id` may be that of a resumed run."""

    run_id: str
    token: str
    workspace: Workspace
    full_refresh: frozenset[Key] = frozenset()
    resumes: bool = False
    view_inputs: dict[Key, list[Input]] = field(default_factory=dict)
    """The inputs of temporary views, for the lineage of tables that read them."""

    stack: ExitStack = field(default_factory=ExitStack)
    """Closed at the end of the run."""
    loads: LoadContext | None = None
    """The context of loads, after the first load."""

    def signature(self, dataset: Dataset) -> dict[str, str]:
        """Returns the snapshot properties of a run."""
        return {
            RUN_ID: self.run_id,
            PIPELINE: self.workspace.graph.spec.name,
            DEFINITION: definition_of(dataset),
            "pinakes.user": self.workspace.session.identity.user,
        }

    def inputs(self, flow: str, reads: dict[Key, tuple[int | None, int | None]]) -> list[Input]:
        """Returns the inputs of a flow. Temporary views are replaced by their own inputs."""
        found: list[Input] = []
        for key, (old, new) in reads.items():
            if len(key) == 1:
                found += [i._replace(flow=flow) for i in self.view_inputs.get(key, ())]
            else:
                found.append(Input(flow, key, "table", old, new))
        return list(dict.fromkeys(found))


def definition_of(dataset: Dataset) -> str:
    """Returns a hash of a table's definition in the project."""
    from hashlib import sha256

    said = (
        [flow.fingerprint for flow in dataset.flows],
        dataset.columns,
        dataset.partitions,
        sorted(dataset.properties.items()),
        [(e.name, e.predicate, e.action) for e in dataset.expectations],
    )
    return sha256(repr(said).encode()).hexdigest()[:16]
