"""What goes wrong while dbt runs: it says which model and why, nothing half-built has a final name, a re-run heals."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.dbt.projects import Project, finished
from tests.flight.identities import asked, configured, is_refused, with_token
from tests.flight.serving import Serving, eventually, serving

pytestmark = pytest.mark.slow

TABLE = "{{ config(materialized='table') }} "
# Some seconds of work, wherever it runs: the client no longer waits for its end.
LONG = (
    TABLE + "select count(*) as n from generate_series(1, 3000000) as a(x), generate_series(1, 1000000) as b(y) "
    "where x + y < 0"
)
HALF = TABLE + "select 1 / (x - 500000) as y from generate_series(1, 1000000) as t(x)"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Serving]:
    with serving(data=str(tmp_path / "lake")) as running:
        yield running


TABLES = "SELECT table_name FROM lake.information_schema.tables WHERE table_schema = 'proj' ORDER BY 1"


def tables(server: Serving) -> list[str]:
    return [name for (name,) in asked(server, TABLES)]


def runs(server: Serving, text: str, **options: object) -> bool:
    running = "SELECT query FROM system.runtime.queries WHERE state = 'RUNNING'"
    return any(text in query and "runtime.queries" not in query for (query,) in asked(server, running, **options))


def test_a_model_that_fails_half_way(dbt_python: Path, server: Serving, tmp_path: Path) -> None:
    project = Project(tmp_path / "project", server.port)
    project.models(first=TABLE + "select 1 as id", half=HALF, after="select * from {{ ref('half') }}")
    done = project.dbt("run")
    assert done.code == 1
    assert (done.status("first"), done.status("half"), done.status("after")) == ("success", "error", "skipped")
    assert "EXECUTION_ERROR: division by zero" in done.message("half")
    assert "traceback" not in done.output.lower()
    assert tables(server) == ["first"]
    project.models(half=TABLE + "select 2 as y")
    assert project.dbt("run").code == 0
    project.models(half=HALF)
    assert project.dbt("run").status("half") == "error"
    assert asked(server, "SELECT y FROM lake.proj.half") == [(2,)]  # what was there is there
    assert tables(server) == ["after", "first", "half"]


def test_a_server_that_is_stopped(dbt_python: Path, tmp_path: Path) -> None:
    lake = str(tmp_path / "lake")
    with serving(data=lake) as server:
        project = Project(tmp_path / "project", server.port)
        project.models(first=TABLE + "select 1 as id", long=LONG + " -- {{ ref('first') }}")
        process = project.start("run")
        assert eventually(lambda: runs(server, "generate_series"))
        server.process.send_signal(signal.SIGKILL)
        done = finished(process, project.directory)
    assert done.code == 1
    assert done.status("first") == "success"
    assert "is gone or does not answer" in done.message("long")
    with serving(data=lake) as server:
        assert tables(server) == ["first"]
        again = Project(project.directory, server.port)
        again.models(long=TABLE + "select 1 as n")
        assert again.dbt("run").code == 0
        assert tables(server) == ["first", "long"]


def test_ctrl_c_stops_what_runs(dbt_python: Path, server: Serving, tmp_path: Path) -> None:
    project = Project(tmp_path / "project", server.port)
    project.models(long=LONG)
    process = project.start("run")
    assert eventually(lambda: runs(server, "generate_series"))
    process.send_signal(signal.SIGINT)
    finished(process, project.directory)
    assert process.returncode != 0
    assert eventually(lambda: not runs(server, "generate_series"))
    assert tables(server) == []


def test_a_token_that_is_over(dbt_python: Path, tmp_path: Path) -> None:
    """It is taken back while a model runs: the next one is told so, and a new token heals."""
    users = tmp_path / "users"
    admin, robot = token_of("admin", users, "--admin"), token_of("robot", users)
    with configured(tmp_path, f"[engine]\ndata = '{tmp_path / 'lake'}'\n[server]\nusers_file = '{users}'\n") as server:
        project = Project(tmp_path / "project", server.port, token=robot, threads=1)
        project.models(
            a=LONG, b="select * from {{ ref('a') }}", c="select * from {{ ref('b') }}", z=TABLE + "select 1 as id"
        )
        process = project.start("run")
        assert eventually(lambda: runs(server, "generate_series", **with_token(admin)))
        user("remove", "robot", "--users", str(users))
        assert eventually(lambda: is_refused(server, **with_token(robot)))
        running = "SELECT query_id FROM system.runtime.queries WHERE state = 'RUNNING' AND \"user\" = 'robot'"
        for (query,) in asked(server, running, **with_token(admin)):
            asked(server, f"KILL QUERY '{query}'", **with_token(admin))
        done = finished(process, project.directory)
        assert done.code == 1
        assert "does not accept the profile's login" in done.message("z")
        assert robot not in done.output
        assert [name for (name,) in asked(server, TABLES, **with_token(admin))] == []
        healed = Project(project.directory, server.port, token=token_of("robot", users))
        healed.models(a=TABLE + "select 1 as n")
        assert eventually(lambda: healed.dbt("run").code == 0)


def token_of(name: str, users: Path, *options: str) -> str:
    return user("add", name, "--token", *options, "--users", str(users)).split()[-1]


def user(*arguments: str) -> str:
    command = [sys.executable, "-m", "pinakes", "user", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_two_runs_at_once_on_one_target(dbt_python: Path, server: Serving, tmp_path: Path) -> None:
    made = []
    for name in ("one", "two"):
        project = Project(tmp_path / name, server.port)
        project.models(
            plain=TABLE + "select x from generate_series(1, 1000) as t(x)",
            merged="{{ config(materialized='incremental', unique_key='x') }} select x from {{ ref('plain') }}",
            replaced="{{ config(materialized='incremental', unique_key='x', incremental_strategy='delete+insert') }} "
            "select x from {{ ref('plain') }}",
            seen="select count(*) as n from {{ ref('merged') }}",
        )
        made.append(project)
    assert made[0].dbt("run").code == 0
    processes = [(project, project.start("run")) for project in made]
    outcomes = [finished(process, project.directory) for project, process in processes]
    for done in outcomes:  # whoever fails says so, and names the conflict
        assert all(r["status"] == "success" or "CONFLICT" in r["message"] for r in done.nodes.values()), done.output
    assert tables(server) == ["merged", "plain", "replaced", "seen"]
    assert made[0].dbt("run").code == 0
    for table in ("merged", "replaced"):
        assert asked(server, f"SELECT count(*), count(DISTINCT x) FROM lake.proj.{table}") == [(1000, 1000)]
