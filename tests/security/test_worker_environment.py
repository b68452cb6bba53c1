"""The keys of persistent secrets are in the environment of the server, and not in that of the programs it starts."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from pinakes.worker.client.process import start
from tests.flight.serving import eventually


def test_a_worker_does_not_inherit_the_keys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PINAKES_SECRET_KEY", "a-key")
    monkeypatch.setenv("ORDINARY", "a-value")
    file = tmp_path / "environment"
    code = f"import os, pathlib; pathlib.Path({str(file)!r}).write_text(repr(dict(os.environ)) + '!')"
    connection = start([sys.executable, "-c", code], name="worker")
    try:
        assert eventually(lambda: file.is_file() and file.read_text().endswith("!"))
    finally:
        connection.close()
    assert "a-value" in file.read_text()
    assert "a-key" not in file.read_text()
