"""Eight threads at once: no commit fails, and every table is as one thread makes it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.dbt.projects import Project
from tests.engine.support import LONG
from tests.flight.serving import Serving, serving

pytestmark = pytest.mark.slow

MODELS = 48 if LONG else 8
RUNS = 5 if LONG else 2
TABLE = "{{ config(materialized='table') }} select x as id, x * 2 as twice from generate_series(1, 100) as t(x)"
MERGED = """{{ config(materialized='incremental', unique_key='id') }}
select x as id, {{ 'x * 2' if is_incremental() else 'x' }} as twice from generate_series(1, 100) as t(x)"""
APPENDED = """{{ config(materialized='incremental', incremental_strategy='append') }}
select 1 as id, 2 as twice"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    with serving(data=str(tmp_path_factory.mktemp("lake"))) as running:
        yield running


def test_no_commit_fails(dbt_python: Path, server: Serving, tmp_path: Path) -> None:
    project = Project(tmp_path / "many", server.port, threads=8)
    kinds = {"table": TABLE, "merged": MERGED, "appended": APPENDED}
    for number in range(MODELS):
        for kind, sql in kinds.items():
            project.models(**{f"{kind}_{number:02}": sql})
    for _ in range(RUNS):
        done = project.dbt("run")
        assert done.code == 0, done.output
        assert len(done.nodes) == 3 * MODELS
        assert {done.status(node) for node in done.nodes} == {"success"}
    expected = {"table": (100, 10_100), "merged": (100, 10_100), "appended": (RUNS, 2 * RUNS)}
    with server.connect() as connection, connection.cursor() as cursor:
        for kind, sums in expected.items():
            for number in range(MODELS):
                cursor.execute(f"SELECT count(*), sum(twice) FROM lake.proj.{kind}_{number:02}")
                assert cursor.fetchone() == sums, f"{kind}_{number:02}"
