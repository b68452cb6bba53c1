"""The real command, in a process of its own."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests import commands
from tests.cli.seats import SEATS
from tests.flight.serving import Serving, serving

EMBEDDED = ("--data", ":memory:")
Cli = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    """An environment where nothing of the developer's own is found or changed."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("PINAKES_", "XDG_", "PYTEST_"))}
    return kept | {"HOME": str(tmp_path / "home"), "COLUMNS": "80"}


@pytest.fixture(scope="module")
def server() -> Iterator[Serving]:
    """A server that the tests of a file share."""
    with serving() as running:
        yield running


@pytest.fixture(params=SEATS)
def where(request: pytest.FixtureRequest) -> tuple[str, ...]:
    """The options that say where a shell sits: at a catalog of its own, or at the server."""
    return EMBEDDED if request.param == "embedded" else ("--uri", request.getfixturevalue("server").uri)


@pytest.fixture
def cli(tmp_path: Path, env: dict[str, str]) -> Cli:
    """Runs `pinakes` in a directory of its own, on a temporary catalog unless --data says otherwise."""
    return _running(tmp_path, env, EMBEDDED)


@pytest.fixture
def anywhere(tmp_path: Path, env: dict[str, str], where: tuple[str, ...]) -> Cli:
    """The same, and once more at a server."""
    return _running(tmp_path, env, where)


def _running(tmp_path: Path, env: dict[str, str], where: tuple[str, ...]) -> Cli:
    def run(*arguments: str, input: str = "") -> subprocess.CompletedProcess[str]:
        place = () if "--data" in arguments else where
        return commands.run(*place, *arguments, input=input, cwd=tmp_path, env=env, timeout=180)

    return run
