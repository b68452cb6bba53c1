"""One step of a run: what it is given, and what comes of it."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from pinakes.pipeline.runs.tables import DEFINITION, PIPELINE, RUN_ID

if TYPE_CHECKING:
    from pinakes.pipeline.loads import LoadContext
    from pinakes.pipeline.project.model import Dataset, Key
    from pinakes.pipeline.runs.expectations import Outcome
    from pinakes.pipeline.runs.workspace import Workspace


class Input(NamedTuple):
    """What a flow read of a source: all of a snapshot, or what came after another."""

    flow: str
    source: Key
    kind: str
    """table, files or jdbc."""
    from_snapshot: int | None
    snapshot: int | None


@dataclass(slots=True)
class Made:
    """`rows` were written; a step that had nothing to do has none, and no snapshot of its own."""

    rows: int = 0
    bad_rows: int = 0
    files: int = 0
    snapshot: int | None = None
    outcomes: list[Outcome] = field(default_factory=list)
    inputs: list[Input] = field(default_factory=list)
    was_there: bool = False
    """Nothing had to be done."""


@dataclass(slots=True)
class Attempt:
    """A run as one process carries it out. `token` is its own; `run_id` may be that of a run that is taken up again."""

    run_id: str
    token: str
    workspace: Workspace
    full_refresh: frozenset[Key] = frozenset()
    resumes: bool = False
    view_inputs: dict[Key, list[Input]] = field(default_factory=dict)
    """What the temporary views read, for the lineage of the tables that are made of them."""

    stack: ExitStack = field(default_factory=ExitStack)
    """What is to be closed at the end."""
    loads: LoadContext | None = None
    """Where loads work, once there was one."""

    def signature(self, dataset: Dataset) -> dict[str, str]:
        """What the summary of a snapshot is to say."""
        return {
            RUN_ID: self.run_id,
            PIPELINE: self.workspace.graph.spec.name,
            DEFINITION: definition_of(dataset),
            "pinakes.user": self.workspace.session.identity.user,
        }

    def inputs(self, flow: str, reads: dict[Key, tuple[int | None, int | None]]) -> list[Input]:
        """Temporary views count as what they are made of."""
        found: list[Input] = []
        for key, (old, new) in reads.items():
            if len(key) == 1:
                found += [i._replace(flow=flow) for i in self.view_inputs.get(key, ())]
            else:
                found.append(Input(flow, key, "table", old, new))
        return list(dict.fromkeys(found))


def definition_of(dataset: Dataset) -> str:
    """The same as long as what the project says of a table is."""
    from hashlib import sha256

    said = (
        [flow.fingerprint for flow in dataset.flows],
        dataset.columns,
        dataset.partitions,
        sorted(dataset.properties.items()),
        [(e.name, e.predicate, e.action) for e in dataset.expectations],
    )
    return sha256(repr(said).encode()).hexdigest()[:16]
