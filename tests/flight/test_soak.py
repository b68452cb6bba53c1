"""A short sample of benchmarks/soak.py: a mix of statements from several clients, none of which fails.

Whether memory, threads and descriptors stay flat shows in an hour, not in seconds: that is the benchmark's own part.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.flight.serving import PATIENCE

SOAK = Path(__file__).parents[2] / "benchmarks" / "soak.py"


@pytest.mark.slow
def test_a_mix_of_statements_has_no_failure() -> None:
    command = [sys.executable, str(SOAK), "--minutes", "0.15", "--clients", "4"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=4 * PATIENCE)
    if "no data" in done.stdout:
        pytest.skip("DuckDB's extension for TPC-H is not installed")
    assert " statements, 0 failed" in done.stdout, done.stdout + done.stderr
    assert not done.stdout.startswith("0 statements")
    assert "Traceback" not in done.stderr
