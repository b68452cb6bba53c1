"""The files of a batch as Spark reads them: in place, or as a copy in the directory that it shares with this process.

Files are copied if Spark can't read them in place: files of an object store (its keys stay in this process), and paths
that Spark would take for patterns or ignore. Arrow files are converted to Parquet.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from pinakes.core.errors import NotSupportedError

if TYPE_CHECKING:
    from pinakes.engine.files.paths import File
    from pinakes.pipelines.loads.context import LoadContext
    from pinakes.spark.spool import Spool

_PLAIN = re.compile(r"/[A-Za-z0-9_./=+@,-]*")


@dataclass(frozen=True, slots=True)
class Input:
    """`path` is the path that the user knows, `uri` the one that Spark reads."""

    path: str
    uri: str
    file: File

    @property
    def is_copied(self) -> bool:
        return self.uri != f"file://{self.path}"


@dataclass(frozen=True, slots=True)
class Unreadable:
    """An unreadable file; it counts as one bad record."""

    path: str
    reason: str


class Copies:
    """The copies of one batch; they are removed with it."""

    def __init__(self, context: LoadContext, batch: str) -> None:
        self._context = context
        self._name = f"load-{batch}"
        self._numbers = itertools.count(1)  # files are copied by several threads
        self._is_used = False

    @contextmanager
    def kept(self) -> Iterator[Copies]:
        try:
            yield self
        finally:
            if self._is_used and self._context.spool is not None:
                self._context.spool.remove(self._name)

    def inputs(self, files: Mapping[str, File]) -> Iterator[Input]:
        for path, file in files.items():
            self._context.query.check()
            yield Input(path, f"file://{path}" if is_plain(file) else self._copied(file), file)

    def spool(self) -> Spool:
        if self._context.spool is None:
            raise NotSupportedError(
                "files of an object store and Arrow files are handed to Spark through a directory that it shares with "
                "this process: set spool in [spark]."
            )
        return self._context.spool

    def new(self, ending: str) -> str:
        """Returns a new name in the shared directory."""
        self._is_used = True
        return f"{self._name}/{next(self._numbers):07}{ending}"

    def _copied(self, file: File) -> str:
        name = self.new("".join(PurePosixPath(str(file.real)).suffixes[-2:]))
        with file.stream() as stream:
            self.spool().copy(name, stream)
        return self.spool().uri(name)


def is_plain(file: File) -> bool:
    """Whether Spark reads exactly this file when given its path."""
    return (
        file.is_local and _PLAIN.fullmatch(str(file.local)) is not None and not file.local.name.startswith((".", "_"))
    )
