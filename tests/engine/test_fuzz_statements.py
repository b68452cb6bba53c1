"""Spoilt statements: whatever is sent, a typed error comes back or a result, and the engine goes on.

PINAKES_LONG=1 runs 20,000. `python -m tests.engine.fuzz_child SEED NUMBER 1 DIRECTORY` runs one alone.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.engine.support import child, how_many, seed_of

CHUNK = 1000
"""Statements per process: each starts with a fresh catalog."""
LONGEST = 600.0
"""Seconds that a chunk may take; a statement that hangs is what takes longer."""


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, how_many(1000, 20_000), CHUNK))
def test_spoilt_statements(first: int, tmp_path: Path) -> None:
    seed = seed_of("fuzz")
    findings, outcomes = _run(seed, first, tmp_path)
    shown = "\n\n".join(f"#{f['number']} {f['sql'][:500]!r}\n{f['finding'][-2000:]}" for f in findings[:5])
    assert not findings, f"{len(findings)} findings\n{shown}"
    assert sum(outcomes.values()) == CHUNK
    assert outcomes["ok"] > CHUNK // 20, f"hardly a statement is still valid: {outcomes}"


def _run(seed: int, first: int, directory: Path) -> tuple[list[dict[str, Any]], dict[str, int]]:
    process = child("-m", "tests.engine.fuzz_child", str(seed), str(first), str(CHUNK), str(directory))
    try:
        out, err = process.communicate(timeout=LONGEST)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        pytest.fail(f"hangs in {_now(directory)}")
    lines = [json.loads(line) for line in out.splitlines()]
    if process.returncode != 0:
        pytest.fail(f"ended with {process.returncode} in {_now(directory)}\n{err[-3000:]}")
    return lines[:-1], lines[-1]["outcomes"]


def _now(directory: Path) -> str:
    """The statement that ran last."""
    return (directory / "now").read_text(encoding="utf-8")[:1000]
