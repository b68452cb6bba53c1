"""Pipelines, for whoever runs one: an engine, a file, and what is to be told on the way."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pinakes.pipeline.project.template import make_project
from pinakes.pipeline.runs.planning import Planned, plan_pipeline
from pinakes.pipeline.runs.runner import Options, Report, Tell, raise_failed, ready, run_pipeline

if TYPE_CHECKING:
    from pinakes.engine.engine import Engine
    from pinakes.engine.execution.query import Query

__all__ = ["Options", "PipelineRun", "Planned", "Report", "make_project", "plan", "validate"]


def validate(engine: Engine, spec: Path) -> int:
    """How many tables and views it has; all that is wrong with it is one error. No Spark is started."""
    return len(ready(spec, engine.session(), Options()).steps)


def plan(engine: Engine, spec: Path, options: Options) -> list[Planned]:
    """What a run would do. No Spark is started."""
    return plan_pipeline(spec, engine.session(), options)


class PipelineRun:
    """A run, which another thread may cancel."""

    def __init__(self, engine: Engine, spec: Path, options: Options) -> None:
        self._session, self._spec, self._options = engine.session(source="pipeline"), spec, options
        self._query: Query = engine.tracker.start(self._session.identity.user, "pipeline")
        self._query.describe("PIPELINE", f"pipeline run {spec} {options}".rstrip())

    @property
    def progress(self) -> str:
        """What Spark does at the moment."""
        return self._query.info().progress or ""

    def run(self, tell: Tell) -> Report:
        """PipelineFailed tells what failed, when all is done that could be."""
        try:
            report = run_pipeline(self._spec, self._session, self._query, self._options, tell)
            raise_failed(report)
        except BaseException as error:
            self._query.end(error)
            raise
        finally:
            self._session.close()
        self._query.end()
        return report

    def cancel(self) -> None:
        self._query.cancel("the run was canceled")
