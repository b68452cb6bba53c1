"""dbt, installed once in an environment of its own, and the adapter of this checkout on its path.

dbt-core needs an older protobuf than the engine is tested with, so the two can't share an environment; and the adapter
imports nothing of the engine, which this shows.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
from pathlib import Path

from tests.servers.fetch import virtualenv

ROOT = Path(__file__).parents[2]
ADAPTER = ROOT / "dbt-pinakes"
_REQUIREMENTS = ADAPTER / "requirements-test.txt"


def python() -> Path:
    """The interpreter that has dbt; another list of requirements is another environment."""
    digest = hashlib.sha256(_REQUIREMENTS.read_bytes()).hexdigest()[:12]
    return virtualenv(f"dbt-{digest}", "-r", str(_REQUIREMENTS)) / "bin" / "python"


def surroundings(**more: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("DBT_", "PYTEST_", "PYTHON"))}
    return {
        **kept,
        "PYTHONPATH": str(ADAPTER / "src"),
        "PYTHONDONTWRITEBYTECODE": "1",
        "DBT_SEND_ANONYMOUS_USAGE_STATS": "false",
        "DBT_STATIC_PARSER": "true",
        **more,
    }


def run_pytest(*arguments: str, timeout: float, **more: str) -> subprocess.CompletedProcess[str]:
    """The adapter's own tests, in the environment that has dbt."""
    command = [python(), "-m", "pytest", "-q", "-p", "no:cacheprovider", "--tb=short", *arguments]
    return subprocess.run(
        command, cwd=ADAPTER, env=surroundings(**more), capture_output=True, text=True, timeout=timeout, check=False
    )
