"""The SQL, the Python and the commands of the README, the tutorial and two how-to pages run as written."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from pinakes.api.build import open_engine
from pinakes.config.model import parse_config
from pinakes.engine.session import Session
from pinakes.parser import split
from tests.servers.base import Facts

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
TUTORIAL = (ROOT / "docs/tutorial.md").read_text(encoding="utf-8")
MOUNT = (ROOT / "docs/how-to/mount-catalogs.md").read_text(encoding="utf-8")
SCRIPTS = (ROOT / "docs/how-to/run-scripts.md").read_text(encoding="utf-8")


PARTNER = "http://127.0.0.1:8181"
"""The address of a REST catalog in the examples."""


def blocks(language: str, page: str = README) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)


@pytest.fixture
def session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Session]:
    """A session in an empty current directory, to which the paths of the examples are relative."""
    monkeypatch.chdir(tmp_path)
    with open_engine(parse_config("[engine]\ndata = ':memory:'", tmp_path)) as engine:
        yield engine.session()


def test_the_sql_runs_as_written(session: Session, tmp_path: Path) -> None:
    (block,) = blocks("sql")
    results = {part.text: session.run(part.text).read_all().to_pylist() for part in split(block)}
    assert [row["customer"] for sql, rows in results.items() if "WHERE" in sql for row in rows] == ["Ann"]
    assert results["SELECT count(*) AS orders FROM './orders.parquet'"] == [{"orders": 2}]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["orders.parquet", "shop"]


@pytest.mark.slow
def test_the_sql_about_another_catalog_runs_as_written(session: Session, rest_server: Facts) -> None:
    (block,) = (block for block in blocks("sql", MOUNT) if PARTNER in block)
    there = rest_server["uri"]
    session.run(f"ATTACH '{there}' AS before (TYPE iceberg_rest)")
    session.run("CREATE SCHEMA IF NOT EXISTS before.sales")
    session.run("CREATE OR REPLACE TABLE before.sales.orders AS SELECT 1 AS id")
    found = {p.text: session.run(p.text.replace(PARTNER, there)).read_all() for p in split(block)}
    assert [table.to_pylist() for sql, table in found.items() if sql.startswith("SELECT")] == [[{"id": 1}]]
    session.run("DROP TABLE before.sales.orders")


def test_the_tutorial_runs_as_written(session: Session) -> None:
    statements = [part.text for block in blocks("sql", TUTORIAL) for part in split(block)]
    results = {sql: session.run(sql).read_all().to_pylist() for sql in statements}
    assert results["SELECT count(*) AS now FROM cities"] == [{"now": 0}]
    assert results["SELECT count(*) AS then FROM cities FOR VERSION AS OF 'after_the_merge'"] == [{"then": 4}]
    assert [row["Catalog"] for row in results["SHOW CATALOGS"]] == ["archive", "lake", "system"]


@pytest.mark.slow
def test_the_tutorials_python_runs_as_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The first block talks to a server that has the tutorial's table."""
    table = "CREATE TABLE cities AS SELECT 'Rhodes' AS name, 'GR' AS country, true AS harbour"
    subprocess.run([sys.executable, "-m", "pinakes", "--data", str(tmp_path), "-c", table], check=True)
    remote, local = blocks("python", TUTORIAL)
    command = [sys.executable, "-m", "pinakes", "serve", "--port", "0", "--data", str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as server:
        try:
            assert server.stdout is not None
            address = server.stdout.readline().split()[2]
            exec(compile(remote.replace("grpc://127.0.0.1:31337", address), "docs/tutorial.md", "exec"), {})
        finally:
            server.terminate()
    exec(compile(local, "docs/tutorial.md", "exec"), {})
    shown = capsys.readouterr().out
    assert "Rhodes" in shown
    assert "81" in shown


def commands(page: str) -> list[str]:
    return [line.split("#")[0].strip() for block in blocks("sh", page) for line in block.splitlines()]


def test_the_pages_have_commands() -> None:
    assert len(commands(README)) >= 3
    assert len(commands(SCRIPTS)) >= 6


@pytest.mark.slow
@pytest.mark.parametrize("command", commands(SCRIPTS))
def test_the_commands_run_as_written(command: str, tmp_path: Path) -> None:
    (tmp_path / "script.sql").write_text("SELECT 1;")
    (tmp_path / "orders.csv").write_text("id,amount\n1,2.5\n")
    (tmp_path / "pinakes.toml").write_text("[engine]\ndata = 'data'\n")  # found in ./ where no --data is given
    run = [sys.executable, "-m", "pinakes", *shlex.split(command)[1:]]
    done = subprocess.run(run, cwd=tmp_path, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("command", commands(README))
def test_the_make_targets_exist(command: str) -> None:
    target = command.split()[1]
    assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(), re.MULTILINE)


def test_links_lead_somewhere() -> None:
    links = re.findall(r"\]\((?!http)([^)#]+)", README)
    assert links
    assert [link for link in links if not (ROOT / link).exists()] == []
