"""New files of a statement: removed on exit, unless a commit keeps them."""

from __future__ import annotations

import logging
from types import TracebackType
from typing import Self

from pyiceberg.io import FileIO

from pinakes.engine.iceberg.write.commit_state import may_be_live

log = logging.getLogger(__name__)


class NewFiles:
    """A context manager. A path is added to `paths` before its file is created, so that none is missed."""

    def __init__(self, io: FileIO) -> None:
        self.paths: list[str] = []
        self._io = io
        self._kept = False

    def keep(self) -> None:
        """Keeps the files, which are now part of a table."""
        self._kept = True

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._kept or may_be_live(error):
            return
        for path in self.paths:
            try:
                self._io.delete(path)
            except FileNotFoundError:
                continue  # it was never created
            except OSError:
                log.warning("could not remove %s, which no snapshot refers to", path)
