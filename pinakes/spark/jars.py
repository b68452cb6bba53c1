"""The jars that Spark needs in addition to its own: fetched once by their coordinates, verified, and cached.

Spark's package contains Ivy, which resolves coordinates in the repositories that this machine is configured for. A
fetched file is accepted only if its SHA-256 is the pinned one; a cached file is not fetched again.
"""

from __future__ import annotations

import hashlib
import subprocess
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from pinakes.core.errors import CatalogUnavailable, DataCorrupt


@dataclass(frozen=True, slots=True)
class Jar:
    group: str
    artifact: str
    version: str
    sha256: str

    @property
    def file(self) -> str:
        return f"{self.artifact}-{self.version}.jar"


ICEBERG = Jar(
    "org.apache.iceberg",
    "iceberg-spark-runtime-4.1_2.13",
    "1.12.0",
    "3123c3798af642dd537230923548e013ef41cc28b6626e5225808cf5670a0f82",
)
SQLITE = Jar(
    "org.xerial", "sqlite-jdbc", "3.50.3.0", "a3f53a2aa15ae9425a9e793bbe9c8e5288febeb4b65ef5c1a4e80d4c2045cf08"
)
POSTGRES = Jar(
    "org.postgresql", "postgresql", "42.7.7", "157963d60ae66d607e09466e8c0cdf8087e9cb20d0159899ffca96bca2528460"
)
MARIADB = Jar(
    "org.mariadb.jdbc",
    "mariadb-java-client",
    "3.5.4",
    "9cac1a01e3b2bac18f826d48475b93e6bdb5c16d31f7227f9653c7c8f1b378e7",
)
AWS = Jar(
    "org.apache.iceberg",
    "iceberg-aws-bundle",
    "1.12.0",
    "dd7e49ffa4ac9b215bed846581991259e3aec9bb2fa08d6cec029c46cd66d957",
)

Jars = frozenset[Jar]
ALWAYS: Jars = frozenset({ICEBERG, SQLITE})
"""The jars of every Spark that is started here: the embedded catalog uses SQLite."""
ALL: Jars = ALWAYS | {POSTGRES, MARIADB, AWS}


class JarCache:
    """A cache directory of jars. `ivy` is the jar of Ivy, `java` the command that runs it."""

    def __init__(self, directory: Path, java: str, ivy: Path, *, offline: bool = False) -> None:
        self._directory = directory / "jars"
        self._java = java
        self._ivy = ivy
        self._offline = offline

    def paths(self, jars: Iterable[Jar]) -> list[Path]:
        """Returns the paths of the jars; missing ones are fetched."""
        self._directory.mkdir(parents=True, exist_ok=True)
        return [self._path(jar) for jar in sorted(jars, key=lambda jar: jar.file)]

    def _path(self, jar: Jar) -> Path:
        """Returns the path of a jar. Verified each time: a truncated or replaced file is fetched again."""
        kept = self._directory / jar.file
        if not _is(kept, jar):
            with _locked(self._directory / f".{jar.file}.lock"):
                if not _is(kept, jar):
                    self._fetch(jar, kept)
        return kept

    def _fetch(self, jar: Jar, kept: Path) -> None:
        if self._offline:
            raise CatalogUnavailable(
                f"Spark needs {jar.file}, which is not in {self._directory}, and [spark] offline = true forbids to "
                f"fetch it. Fetch it once where that is allowed, or copy it there."
            )
        with tempfile.TemporaryDirectory(dir=self._directory) as place:
            self._retrieve(jar, Path(place))
            found = Path(place) / jar.file
            if not _is(found, jar):
                raise DataCorrupt(
                    f"{jar.group}:{jar.artifact}:{jar.version} was fetched and is not the file that this version of "
                    f"Pinakes knows: its SHA-256 differs. It was thrown away; look at where this machine fetches from."
                )
            found.replace(kept)

    def _retrieve(self, jar: Jar, place: Path) -> None:
        command = [self._java, "-jar", str(self._ivy), "-m2compatible", "-notransitive", "-confs", "default"]
        command += ["-cache", str(place / "ivy"), "-dependency", jar.group, jar.artifact, jar.version]
        command += ["-retrieve", f"{place}/[artifact]-[revision].[ext]"]
        done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
        if done.returncode or not (place / jar.file).is_file():
            reasons = [line.strip() for line in done.stdout.splitlines() if "WARN" in line or "ERROR" in line]
            raise CatalogUnavailable(
                f"Spark needs {jar.group}:{jar.artifact}:{jar.version}, which could not be fetched: "
                f"{'; '.join(reasons[:3]) or 'Ivy reasons no reason'}. Put the file {jar.file} into {self._directory}."
            )


def _is(path: Path, jar: Jar) -> bool:
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest() == jar.sha256


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Locks across processes; on systems without such locks two processes may fetch the same file."""
    with path.open("w") as file:
        try:
            import fcntl
        except ImportError:
            yield
            return
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
