"""The real command, in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Cli = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    """An environment where nothing of the developer's own is found or changed."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("PINAKES_", "XDG_", "PYTEST_"))}
    return kept | {"HOME": str(tmp_path / "home"), "COLUMNS": "80"}


@pytest.fixture
def cli(tmp_path: Path, env: dict[str, str]) -> Cli:
    """Runs `pinakes` in a directory of its own, on a temporary catalog unless --data says otherwise."""

    def run(*arguments: str, input: str = "") -> subprocess.CompletedProcess[str]:
        data = () if "--data" in arguments else ("--data", ":memory:")
        command = [sys.executable, "-m", "pinakes", *data, *arguments]
        return subprocess.run(
            command, input=input, capture_output=True, text=True, encoding="utf-8", cwd=tmp_path, env=env, timeout=60
        )

    return run
