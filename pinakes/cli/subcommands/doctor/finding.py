"""The result of a check, and the input of the checks."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from pinakes.config.model import Config


class Status(StrEnum):
    OK = "ok"
    NOTE = "note"
    """Neutral: an optional part is missing."""
    WARNING = "warning"
    PROBLEM = "problem"


@dataclass(frozen=True, slots=True)
class Finding:
    name: str
    status: Status
    detail: str
    advice: str = ""
    """The advice; empty if there is nothing to do."""
    seconds: float | None = None
    """The response time of the checked object."""


def ok(name: str, detail: str, *, seconds: float | None = None) -> Finding:
    return Finding(name, Status.OK, detail, seconds=seconds)


def note(name: str, detail: str, advice: str = "") -> Finding:
    return Finding(name, Status.NOTE, detail, advice)


def warning(name: str, detail: str, advice: str) -> Finding:
    return Finding(name, Status.WARNING, detail, advice)


def problem(name: str, detail: str, advice: str) -> Finding:
    return Finding(name, Status.PROBLEM, detail, advice)


@dataclass(slots=True)
class Patient:
    """The state that the checks share. The configuration is None until it was read successfully."""

    config_path: Path | None
    data: str | None
    timeout: float = 5.0
    config: Config | None = None


Check = Callable[[Patient], Iterable[Finding]]
"""A group of checks."""


def amount(size: float) -> str:
    """Formats a number of bytes."""
    for unit in ("bytes", "kB", "MB", "GB"):
        if size < 1000:
            return f"{size:.0f} {unit}" if unit == "bytes" else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:.1f} TB"
