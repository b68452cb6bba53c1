"""The README does not lie: its SQL and its commands run as written."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from pinakes.api.build import open_engine
from pinakes.core.config import parse_config
from pinakes.engine.session import Session
from pinakes.parser import split

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    with open_engine(parse_config("[engine]\ndata = ':memory:'", tmp_path)) as engine:
        yield engine.session()


def test_the_sql_runs_as_written(session: Session, tmp_path: Path) -> None:
    statements = [part.text for block in blocks("sql") for part in split(block)]
    assert len(statements) > 10
    results = {sql: session.run(sql.replace("/some/dir", str(tmp_path / "dir"))).read_all() for sql in statements}
    assert results["SELECT name, x + y AS sum FROM points ORDER BY name"].to_pylist() == [
        {"name": "a", "sum": 3.0},
        {"name": "b", "sum": 7.0},
    ]
    assert results["SELECT count(*) FROM events"].column(0).to_pylist() == [1]


COMMANDS = [line.split("#")[0].strip() for block in blocks("sh") for line in block.splitlines()]


@pytest.mark.slow
@pytest.mark.parametrize("command", [c for c in COMMANDS if c.startswith("pinakes")])
def test_the_commands_run_as_written(command: str, tmp_path: Path) -> None:
    (tmp_path / "script.sql").write_text("SELECT 1;")
    (tmp_path / "pinakes.toml").write_text("[engine]\ndata = 'data'\n")  # found in ./ where no --data is given
    run = [sys.executable, "-m", "pinakes", *shlex.split(command)[1:]]
    done = subprocess.run(run, cwd=tmp_path, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("command", [c for c in COMMANDS if c.startswith("make")])
def test_the_make_targets_exist(command: str) -> None:
    target = command.split()[1]
    assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(), re.MULTILINE)


def test_links_lead_somewhere() -> None:
    links = re.findall(r"\]\((?!http)([^)#]+)", README)
    assert links
    assert [link for link in links if not (ROOT / link).exists()] == []
