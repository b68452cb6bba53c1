"""Checks Python, Pinakes and its dependencies, and the extras with their installation commands."""

from __future__ import annotations

import platform
import sys
from collections.abc import Iterator
from importlib import metadata

from pinakes.cli.subcommands.doctor.finding import Finding, Patient, note, ok, problem, warning
from pinakes.cli.subcommands.doctor.requirements import DISTRIBUTION, Requirement, requirements
from pinakes.core.version import __version__

OLDEST = (3, 11)

EXTRAS = {
    "postgres": "catalogs kept in PostgreSQL",
    "mysql": "catalogs kept in MySQL or MariaDB",
    "aws": "AWS Glue and S3 Tables",
    "hive": "Hive metastores",
    "excel": "Excel workbooks",
    "spark": "queries and pipelines on Spark",
    "server": "the Flight SQL server",
    "notebook": "%sql in Jupyter and IPython",
}
"""The optional extras and their purpose; a test checks that the list is complete."""

TYPES_OF_EXTRAS = {"glue": ("aws",), "s3tables": ("aws",), "hms": ("hive",), "jdbc": ("postgres", "mysql")}
"""The extras that catalog types need."""


def software(patient: Patient) -> Iterator[Finding]:
    yield _python()
    try:
        required = list(requirements())
    except metadata.PackageNotFoundError:
        yield warning("pinakes", f"{__version__}, run from its source and not installed: what it requires is not known",
                      f"pip install {DISTRIBUTION}")  # fmt: skip
        return
    yield _pinakes()
    yield from (_dependency(requirement) for requirement in required if requirement.extra is None)


def extras(patient: Patient) -> Iterator[Finding]:
    try:
        required = list(requirements())
    except metadata.PackageNotFoundError:
        return
    types = {catalog.type.lower() for catalog in patient.config.catalogs.values()} if patient.config else set()
    for name, meaning in EXTRAS.items():
        yield _extra(name, meaning, [r for r in required if r.extra == name], types)


def _python() -> Finding:
    version = f"{platform.python_version()} ({platform.python_implementation()}, {platform.platform()})"
    if sys.version_info < OLDEST:
        return problem("Python", version, f"Pinakes needs Python {'.'.join(map(str, OLDEST))} or newer")
    return ok("Python", version)


def _pinakes() -> Finding:
    installed = metadata.version(DISTRIBUTION)
    if installed != __version__:
        advice = f"pip install --force-reinstall {DISTRIBUTION}, and look for another copy on PYTHONPATH"
        return warning("pinakes", f"{__version__} is loaded, {installed} is installed", advice)
    return ok("pinakes", installed)


def _dependency(required: Requirement) -> Finding:
    installed = required.installed
    pip = f"pip install '{required.name}{required.bounds}'"
    if installed is None:
        return problem(required.name, f"not installed; Pinakes needs {required.bounds or 'it'}", pip)
    if not required.allows(installed):
        return problem(required.name, f"{installed} is installed; Pinakes needs {required.bounds}", pip)
    return ok(required.name, f"{installed} ({required.bounds})" if required.bounds else installed)


def _extra(name: str, meaning: str, required: list[Requirement], types: set[str]) -> Finding:
    label, pip = f"extra {name}", f"pip install '{DISTRIBUTION}[{name}]'"
    if not required:
        return note(label, f"{meaning}: the installed Pinakes does not have it", f"pip install --upgrade {pip[12:]}")
    versions = {r.name: r.installed for r in required}
    wrong = [f"{r.name} {v} (needs {r.bounds})" for r in required if (v := versions[r.name]) and not r.allows(v)]
    missing = [dist for dist, version in versions.items() if version is None]
    if wrong:
        return warning(label, f"{meaning}: {', '.join(wrong)}", pip)
    if not missing:
        return ok(label, f"{meaning}: {', '.join(f'{dist} {version}' for dist, version in versions.items())}")
    detail = f"{meaning}: not installed{'' if len(missing) == len(versions) else f' ({chr(44).join(missing)})'}"
    if any(name in TYPES_OF_EXTRAS.get(kind, ()) and len(TYPES_OF_EXTRAS[kind]) == 1 for kind in types):
        return problem(label, f"{detail}, and a catalog of the configuration needs it", pip)
    return note(label, detail, pip)
