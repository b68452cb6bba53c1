"""Checks the configuration: its file, its syntax, its catalogs."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from pinakes.cli.subcommands.doctor.finding import Finding, Patient, ok, problem, warning
from pinakes.config.model import load_config
from pinakes.core.errors import ConfigError, listing


def configuration(patient: Patient) -> Iterator[Finding]:
    """Reads the configuration, also for the following checks."""
    try:
        config = load_config(patient.config_path, data=patient.data)
    except ConfigError as error:
        yield problem(
            "configuration", str(error), "correct the file; docs/reference/settings.md has every section and key"
        )
        return
    patient.config = config
    if config.source is None:
        yield ok("configuration", "no file: everything has its default")
        return
    yield ok("configuration", f"{config.source}; catalogs: {listing(config.catalogs)}")
    if config.catalogs and _others_can_read(config.source):
        yield warning("its rights", f"everybody on this machine can read {config.source}, which may hold secrets",
                      f"chmod 600 {config.source}")  # fmt: skip


def _others_can_read(path: Path) -> bool:
    return os.name == "posix" and bool(path.stat().st_mode & stat.S_IROTH)
