"""Directories that local files must be below, and the part of object stores that files may be in. Links and `..` in a
path are resolved first, so neither leads out."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from pinakes.core.secrets import covers


class Roots:
    """None at all is everywhere; an empty list is nowhere."""

    __slots__ = ("_prefixes", "directories", "key", "stores")

    def __init__(self, directories: Iterable[str | Path] | None, stores: str = "") -> None:
        self.directories = None if directories is None else tuple(Path(d).resolve() for d in directories)
        self.stores = stores
        """The scope that objects must be in, such as s3://bucket/path; empty is any object of any store."""
        within = "" if self.directories is None else "\0" + "\0".join(map(str, self.directories))
        self.key = f"{within}\0\0{stores}" if stores else within
        """The same for equal ones alone: what was read under other roots is remembered apart. Locations have no NUL, so
        that none continues as a key."""
        self._prefixes = tuple(f"{str(d).rstrip('/')}/" for d in self.directories or ())

    def hold(self, path: str | Path) -> bool:
        """Whether a path leads into one of them, also one that does not exist yet."""
        return self.directories is None or f"{os.path.realpath(path)}/".startswith(self._prefixes)

    def hold_file(self, path: str, known: dict[str, bool]) -> bool:
        """The same for one of many files: `known` has the directories that were looked at before. A scan has one such
        dictionary, so that a directory is resolved once in it."""
        if self.directories is None:
            return True
        directory, _, name = path.rpartition("/")
        held = known.get(directory)
        if held is None:
            held = known[directory] = self.hold(directory or "/")
        if name in ("", ".", "..") or os.path.islink(path):  # noqa: PTH114 - a Path takes longer to make
            return self.hold(path)
        return held

    def hold_object(self, identity: str) -> bool:
        """Whether an object, by the identity of its location, is in the part of object stores that is allowed."""
        return not self.stores or covers(self.stores, identity)

    @property
    def texts(self) -> tuple[str, ...] | None:
        return None if self.directories is None else tuple(map(str, self.directories))

    def and_also(self, directories: Iterable[str | Path]) -> Roots:
        return self if self.directories is None else Roots((*self.directories, *directories), self.stores)


EVERYWHERE = Roots(None)
