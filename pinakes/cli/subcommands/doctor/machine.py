"""Checks the machine: memory and processors, time zones, clock, terminal and locale."""

from __future__ import annotations

import locale
import os
import shutil
import sys
import time
import zoneinfo
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pinakes
from pinakes.cli.subcommands.doctor.finding import Finding, Patient, amount, ok, problem, warning
from pinakes.core import machine as limits

SPARE = 256 * 10**6
"""Bytes that a process needs in addition to the memory of queries."""


def machine(patient: Patient) -> Iterator[Finding]:
    if patient.config is not None:
        yield _memory(patient.config.engine.memory_limit, limits.memory())
        yield _processors(patient.config.engine.target_partitions, limits.processors())
    yield _zones()
    yield _clock(time.time(), Path(pinakes.__file__).stat().st_mtime)
    yield _encoding(getattr(sys.stdout, "encoding", None) or "", locale.getpreferredencoding(False))
    yield _terminal()


def _memory(limit: int, have: int) -> Finding:
    detail = f"queries may use {amount(limit)} of {amount(have)}"
    if limit > have - SPARE:
        return warning(
            "memory", detail, "set engine.memory_limit lower, such as 75%: else the system may end the process"
        )
    return ok("memory", detail)


def _processors(partitions: int, have: int) -> Finding:
    detail = f"{have}, and queries run in {partitions} parts"
    if partitions > 4 * have:
        return warning("processors", detail, f"set engine.target_partitions to about {have}")
    return ok("processors", detail)


def _zones() -> Finding:
    try:
        zoneinfo.ZoneInfo("Europe/Berlin")
    except zoneinfo.ZoneInfoNotFoundError:
        return problem("time zones", "Python finds no time zone data", "pip install tzdata")
    return ok("time zones", f"{len(zoneinfo.available_timezones())} known; here it is {time.tzname[0]}")


def _clock(now: float, installed: float) -> Finding:
    """Checks the clock: a time before the installation of these files is wrong."""
    shown = datetime.fromtimestamp(now, UTC).isoformat(timespec="seconds")
    if now < installed - 86400:
        return problem("clock", f"{shown}, which is before Pinakes was installed",
                       "set the clock (NTP): tokens, caches and snapshots depend on it")  # fmt: skip
    return ok("clock", shown)


def _encoding(output: str, preferred: str) -> Finding:
    if "utf" not in preferred.lower():
        return warning("locale", f"texts are {preferred}, output is {output}", "export LANG=C.UTF-8")
    return ok("locale", f"texts are {preferred}, output is {output}")


def _terminal() -> Finding:
    if not sys.stdout.isatty():
        return ok("terminal", "none: output goes to a file or a pipe")
    columns, lines = shutil.get_terminal_size()
    kind = os.environ.get("TERM", "unknown")
    colour = "without colour" if os.environ.get("NO_COLOR") or kind == "dumb" else "with colour"
    if columns < 40:
        return warning("terminal", f"{kind}, {columns} by {lines}", "make it wider: tables need some 80 columns")
    return ok("terminal", f"{kind}, {columns} by {lines}, {colour}")
