"""Prints the findings as a checklist or as JSON for a support ticket; both are redacted."""

from __future__ import annotations

import json
import platform
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from pinakes.cli.subcommands.doctor.finding import Finding, Status
from pinakes.config.model import Config
from pinakes.core.output.terminal_text import one_line, printable
from pinakes.core.version import __version__
from pinakes.parser.redaction import harmless, masked_address

Groups = Mapping[str, Sequence[Finding]]

_SIGNS = {Status.OK: "✓", Status.NOTE: "-", Status.WARNING: "!", Status.PROBLEM: "✗"}
_PLAIN_SIGNS = {Status.OK: "ok", Status.NOTE: "--", Status.WARNING: "WARNING", Status.PROBLEM: "PROBLEM"}
_COLOURS = {Status.OK: "32", Status.NOTE: "2", Status.WARNING: "33", Status.PROBLEM: "31;1"}


def checklist(groups: Groups, *, colour: bool) -> str:
    lines: list[str] = []
    for group, findings in groups.items():
        lines += [group, *(line for finding in findings for line in _lines(finding, colour)), ""]
    return "\n".join([*lines, _verdict([f for findings in groups.values() for f in findings])])


def as_json(groups: Groups) -> str:
    findings = [f for group in groups.values() for f in group]
    document = {
        "pinakes": __version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "status": worst(findings),
        "checks": [{"group": group, **_fields(f)} for group, found in groups.items() for f in found],
    }
    return json.dumps(document, indent=2, ensure_ascii=False)


def worst(findings: Iterable[Finding]) -> Status:
    """Returns the most severe status: `ok`, `warning` or `problem`."""
    found = {finding.status for finding in findings}
    return next((status for status in (Status.PROBLEM, Status.WARNING) if status in found), Status.OK)


def masked(finding: Finding, config: Config | None) -> Finding:
    """Returns the finding with secret option values and passwords in addresses redacted."""
    detail, advice = masked_address(finding.detail), finding.advice
    for secret in sorted(_secrets(config), key=len, reverse=True):
        detail, advice = detail.replace(secret, "***"), advice.replace(secret, "***")
    return replace(finding, detail=detail, advice=advice)


def _secrets(config: Config | None) -> set[str]:
    if config is None:
        return set()
    values = (v for c in config.catalogs.values() for k, v in c.options.items() if not harmless(k.upper()))
    return {value for value in values if isinstance(value, str) and len(value) > 2}


def _lines(finding: Finding, colour: bool) -> list[str]:
    utf8 = "utf" in (sys.stdout.encoding or "").lower()
    sign = _SIGNS[finding.status] if utf8 else _PLAIN_SIGNS[finding.status]
    if colour:
        sign = f"\x1b[{_COLOURS[finding.status]}m{sign}\x1b[0m"
    took = "" if finding.seconds is None else f" ({finding.seconds * 1000:.0f} ms)"
    detail = printable(finding.detail).replace("\n", "\n      ")
    first = f"  {sign} {one_line(finding.name)}: {detail}{took}"
    return [first, f"      → {printable(finding.advice)}"] if finding.advice else [first]


def _fields(finding: Finding) -> dict[str, object]:
    found: dict[str, object] = {"name": finding.name, "status": finding.status, "detail": finding.detail}
    if finding.advice:
        found["advice"] = finding.advice
    if finding.seconds is not None:
        found["seconds"] = round(finding.seconds, 4)
    return found


def _verdict(findings: Sequence[Finding]) -> str:
    problems = sum(f.status == Status.PROBLEM for f in findings)
    warnings = sum(f.status == Status.WARNING for f in findings)
    if not problems and not warnings:
        return "Everything is fine."
    return f"{_counted(problems, 'problem')}, {_counted(warnings, 'warning')}."


def _counted(number: int, what: str) -> str:
    return f"{number or 'no'} {what}{'' if number == 1 else 's'}"
