"""dbt's own suite for adapters, and the adapter's own tests, against one server. Without PINAKES_LONG a sample of them
runs, which `dbt-pinakes/tests/conftest.py` lists."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.dbt.environment import ADAPTER, run_pytest
from tests.flight.serving import Serving, serving

pytestmark = pytest.mark.slow

FILES = sorted(path.name for path in (ADAPTER / "tests").glob("test_*.py"))
PATIENCE = 1800


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    with serving(data=str(tmp_path_factory.mktemp("lake"))) as running:
        yield running


@pytest.mark.parametrize("file", FILES)
def test_suite(file: str, dbt_python: Path, server: Serving, tmp_path: Path) -> None:
    base = ["--basetemp", str(tmp_path / "projects")]
    done = run_pytest(f"tests/{file}", *base, timeout=PATIENCE, PINAKES_DBT_SERVER=f"127.0.0.1:{server.port}")
    assert done.returncode == 0, done.stdout[-20_000:] + done.stderr[-2_000:]
