"""dbt's own suite for adapters, and the adapter's own tests, against one server. Without PINAKES_LONG a sample of them
runs, which `dbt-pinakes/tests/conftest.py` lists."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.dbt.environment import ADAPTER, run_pytest
from tests.engine.support import LONG
from tests.flight.serving import Serving, serving

pytestmark = pytest.mark.slow

FILES = sorted(path.name for path in (ADAPTER / "tests").glob("test_*.py"))
PATIENCE = 1800


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    with serving(data=str(tmp_path_factory.mktemp("lake"))) as running:
        yield running


@pytest.mark.parametrize("files", [[file] for file in FILES] if LONG else [FILES], ids=lambda files: files[0])
def test_suite(files: list[str], dbt_python: Path, server: Serving, tmp_path: Path) -> None:
    """In one process for the sample: dbt takes seconds to import."""
    arguments = [*(f"tests/{file}" for file in files), "--basetemp", str(tmp_path / "projects")]
    done = run_pytest(*arguments, timeout=PATIENCE, PINAKES_DBT_SERVER=f"127.0.0.1:{server.port}")
    assert done.returncode == 0, done.stdout[-20_000:] + done.stderr[-2_000:]
