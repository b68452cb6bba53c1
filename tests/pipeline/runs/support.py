"""Projects for tests: a few lines each, written where a test may write."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pinakes.api.pipelines import Options, PipelineRun, Report
from pinakes.core.errors import PinakesError
from pinakes.engine.engine import Engine
from pinakes.engine.session import Session
from pinakes.pipelines.project.graph import Graph
from pinakes.pipelines.project.load import load_project

SPEC = "name: shop\ncatalog: lake\ndatabase: shop\n"
PYTHON = """\
from pyspark import pipelines as dp
from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from pinakes.pipeline.expect import expect

spark = SparkSession.active()
"""


def project(root: Path, spec: str = "", sql: str = "", python: str = "", schema: str = "shop") -> Path:
    """The spec of a project; `spec` is added to the usual lines."""
    files = root / "transformations"
    files.mkdir(parents=True, exist_ok=True)
    path = root / "spec.yml"
    path.write_text(SPEC.replace("database: shop", f"database: {schema}") + spec)
    (files / "tables.sql").write_text(sql)
    if python:
        (files / "tables.py").write_text(PYTHON + python)
    return path


def graph(path: Path) -> Graph:
    return load_project(path, ("lake", "default"))


def problem(path: Path) -> str:
    """What is said of a project that is not right."""
    try:
        graph(path)
    except PinakesError as error:
        return error.render()
    raise AssertionError("nothing was wrong with it")


def run(engine: Engine, path: Path, **options: Any) -> Report:
    return PipelineRun(engine, path, Options(**options)).run(lambda *_: None)


def values(session: Session, sql: str) -> list[tuple[Any, ...]]:
    return [tuple(row.values()) for row in session.run(sql).read_all().to_pylist()]
