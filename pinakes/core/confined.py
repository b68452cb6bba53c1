"""Directories that local files must be below. A path is followed to where it really leads first, so that neither `..`
nor a link leads out of them.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

PROPERTY = "py-pinakes-roots"
"""The property of pyiceberg's file access that has the directories. Neither a server nor a table can set what begins
with `py-`."""


class Roots:
    """None at all is everywhere; an empty list is nowhere."""

    def __init__(self, directories: Iterable[str | Path] | None) -> None:
        self.directories = None if directories is None else tuple(Path(d).resolve() for d in directories)

    def hold(self, path: str | Path) -> bool:
        """Whether a path leads into one of them, also one that does not exist yet."""
        if self.directories is None:
            return True
        real = Path(path).resolve()
        return any(real.is_relative_to(root) for root in self.directories)

    @property
    def texts(self) -> tuple[str, ...] | None:
        return None if self.directories is None else tuple(map(str, self.directories))

    def and_also(self, directories: Iterable[str | Path]) -> Roots:
        return self if self.directories is None else Roots((*self.directories, *directories))
