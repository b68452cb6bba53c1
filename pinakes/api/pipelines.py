"""The API of pipelines: validate, plan and run a project on an engine."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pinakes.pipelines.project.template import make_project
from pinakes.pipelines.runs.planning import Planned, plan_pipeline
from pinakes.pipelines.runs.runner import OnStep, Options, Report, raise_failed, ready, run_pipeline

if TYPE_CHECKING:
    from pinakes.engine.engine import Engine
    from pinakes.engine.execution.query import Query

__all__ = ["Options", "PipelineRun", "Planned", "Report", "make_project", "plan", "validate"]


def validate(engine: Engine, spec: Path) -> int:
    """Returns the number of steps; raises one error with all problems. Starts no Spark."""
    return len(ready(spec, engine.session(), Options()).steps)


def plan(engine: Engine, spec: Path, options: Options) -> list[Planned]:
    """Returns the plan of a run. Starts no Spark."""
    return plan_pipeline(spec, engine.session(), options)


class PipelineRun:
    """A run of a pipeline; another thread may cancel it."""

    def __init__(self, engine: Engine, spec: Path, options: Options) -> None:
        self._session, self._spec, self._options = engine.session(source="pipeline"), spec, options
        self._query: Query = engine.tracker.start(self._session.identity.user, "pipeline")
        self._query.describe("PIPELINE", f"pipeline run {spec} {options}".rstrip())

    @property
    def progress(self) -> str:
        """The current progress of Spark."""
        return self._query.info().progress or ""

    def run(self, on_step: OnStep) -> Report:
        """Runs the pipeline; raises PipelineFailed at the end if a table failed."""
        try:
            report = run_pipeline(self._spec, self._session, self._query, self._options, on_step)
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
