"""`python -m pinakes` is the command `pinakes`."""

from __future__ import annotations

from pinakes.cli.main import run_and_leave

run_and_leave()
