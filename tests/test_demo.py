"""`make demo` tells its whole story, on a real server."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

DEMO = Path(__file__).parent.parent / "examples/demo"


@pytest.mark.slow
def test_the_story_is_reported(tmp_path: Path) -> None:
    run = [sys.executable, str(DEMO), "--once", "--port", "0"]
    env = {**os.environ, "COLUMNS": "120"}
    done = subprocess.run(run, cwd=tmp_path, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert re.search(r"lake\.tpch\.lineitem\s+600,572 rows", done.stdout)
    assert re.search(r"after partitions\s+│ 1 ", done.stdout)
    assert "partner.ratings.suppliers" in done.stdout
    assert "25 rows of ['n_name', 'suppliers']" in done.stdout
    assert "jdbc:arrow-flight-sql://127.0.0.1:" in done.stdout
