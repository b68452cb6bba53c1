"""A load as a step of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pinakes.core.errors import NotSupportedError

if TYPE_CHECKING:
    from pinakes.pipeline.jars import Jars
    from pinakes.pipeline.project.graph import Graph
    from pinakes.pipeline.project.model import LoadStep
    from pinakes.pipeline.runs.step import Attempt, Made


def jars_for(graph: Graph) -> Jars:
    return frozenset()


def load(attempt: Attempt, step: LoadStep) -> Made:
    raise NotSupportedError("soon")
