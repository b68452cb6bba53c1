"""docs/how-to/write-a-worker.md does not lie: its worker runs, and is what the page says."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import pinakes
from tests.worker.support import command

PAGE = (Path(__file__).parents[2] / "docs/how-to/write-a-worker.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


@pytest.mark.slow
def test_the_worker_of_the_page(tmp_path: Path):
    path = tmp_path / "my_worker.py"
    path.write_text(blocks("python")[0])
    with pinakes.connect(data=":memory:") as connection:
        connection.execute(f"ATTACH 'myapp' (TYPE vgi, LOCATION '{command(path)}')")
        assert connection.execute("SELECT * FROM myapp.main.anns").fetchall() == [(1, "Ann")]
        assert connection.execute("SELECT count(*) FROM myapp.main.users()").fetchall() == [(2,)]
    client = blocks("python")[1].replace("./my-worker", command(path))
    ran = subprocess.run([sys.executable, "-c", client], capture_output=True, text=True, check=False)
    assert ran.stdout == "main\n", ran.stderr


def test_the_sdk_needs_little():
    """Neither the engine, nor what it is made of, is loaded for a worker."""
    code = "import sys, pinakes.worker, pinakes.worker.catalog, pinakes.worker.serving.run; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    heavy = {"datafusion", "pyiceberg", "sqlglot", "pinakes.engine", "pinakes.parser", "sqlite3", "pyarrow.compute"}
    assert heavy.isdisjoint(loaded)
