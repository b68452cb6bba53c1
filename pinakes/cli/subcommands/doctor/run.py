"""Runs all checks in order, guards and redacts them, and prints the findings."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from importlib import import_module

from pinakes.cli.display import is_coloured
from pinakes.cli.subcommands.doctor.finding import Check, Finding, Patient, Status, problem
from pinakes.cli.subcommands.doctor.report import as_json, checklist, masked, worst
from pinakes.core.errors import PinakesError

GROUPS: Mapping[str, tuple[str, str]] = {
    "Configuration": ("configuration", "configuration"),
    "Software": ("software", "software"),
    "Extras": ("software", "extras"),
    "Java": ("java", "java"),
    "Machine": ("machine", "machine"),
    "Storage": ("storage", "storage"),
    "Engine": ("catalogs", "engine"),
    "Catalogs": ("catalogs", "catalogs"),
}
"""Module and function of each group. The configuration comes first, since the others depend on it."""

FAILED = "this check failed by itself: please report it, with `pinakes doctor --format json`"


def doctor(patient: Patient, format: str) -> bool:
    """Prints the findings; returns whether there is no problem."""
    found = {group: examine(group, patient) for group in GROUPS}
    groups = {group: [masked(one, patient.config) for one in findings] for group, findings in found.items()}
    text = as_json(groups) if format == "json" else checklist(groups, colour=is_coloured(sys.stdout))
    print(text, flush=True)  # noqa: T201 - the output of the command
    return worst(one for findings in groups.values() for one in findings) != Status.PROBLEM


def examine(group: str, patient: Patient) -> list[Finding]:
    """Returns the findings of one group, up to a failure."""
    module, function = GROUPS[group]
    findings: list[Finding] = []
    try:
        check: Check = getattr(import_module(f"pinakes.cli.subcommands.doctor.{module}"), function)
        findings.extend(check(patient))
    except Exception as error:  # noqa: BLE001 - a failing check must not hide the findings of others
        said = error.render() if isinstance(error, PinakesError) else f"{type(error).__name__}: {error}"
        findings.append(problem(group.lower(), said, _advice(error)))
    return findings


def _advice(error: Exception) -> str:
    if isinstance(error, PinakesError):
        return "correct the problems above first; if this one remains, report it with `pinakes doctor --format json`"
    if isinstance(error, ImportError):
        return "a library is missing or broken: pip install --force-reinstall pinakes"
    return FAILED
