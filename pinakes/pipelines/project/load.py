"""Loads a project from its files. Read this first.

spec.yml (`spec.py`) -> SQL and Python files (`sql_files.py`, `python_files.py`) -> declarations (`collected.py`) ->
order (`graph.py`). All problems are reported together; no Spark is started.
"""

from __future__ import annotations

from pathlib import Path

from pinakes.pipelines.project.collected import Collected
from pinakes.pipelines.project.graph import Graph, graph_of
from pinakes.pipelines.project.model import Spec
from pinakes.pipelines.project.problem import Problem, Where, refuse
from pinakes.pipelines.project.python_files import read_python
from pinakes.pipelines.project.spec import read_spec
from pinakes.pipelines.project.sql_files import read_sql


def load_project(path: Path, home: tuple[str, ...], problems: list[Problem] | None = None) -> Graph:
    """Returns the graph of a project. Problems are added to `problems`; without it they are raised as an error. An
    unreadable spec always raises."""
    found: list[Problem] = [] if problems is None else problems
    spec = read_spec(path, home, found)
    if spec is None:
        refuse(found)
        raise AssertionError("a spec that can't be read has problems")
    collected = Collected(spec, found)
    for step in spec.loads:
        collected.add(step)
    _read_files(spec, collected)
    collected.join()
    graph = graph_of(spec, collected.steps, found)
    if not graph.steps and not found:
        found.append(
            Problem(
                Where(spec.path.name),
                f"nothing is declared: {', '.join(spec.libraries)} has no SQL or Python file, and there are no loads",
            )
        )
    if problems is None:
        refuse(found)
    return graph


def _read_files(spec: Spec, collected: Collected) -> None:
    python = []
    for file in _files(spec, collected):
        if file.suffix == ".sql":
            read_sql(file.read_text(encoding="utf-8"), str(file.relative_to(spec.root)), collected)
        else:
            python.append(file)
    if python:
        read_python(python, collected)


def _files(spec: Spec, collected: Collected) -> list[Path]:
    """Returns the files of the libraries, without duplicates, in order."""
    found: dict[Path, None] = {}
    for pattern in spec.libraries:
        glob = pattern + "/*" if pattern.endswith("/**") else pattern
        matching = sorted(p for p in spec.root.glob(glob) if p.is_file() and "__pycache__" not in p.parts)
        if not matching and "*" not in pattern:
            collected.fault(Where(spec.path.name), f"there is no file {pattern!r}, which libraries names")
        found |= dict.fromkeys(p for p in matching if p.suffix in (".sql", ".py"))
    return list(found)
