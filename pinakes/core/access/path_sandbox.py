"""Restricts local files to directories and objects to a scope of object stores. Links and `..` in a path are resolved
before the check.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from pinakes.core.secrets import covers


class Roots:
    """The allowed directories. None allows all paths; an empty list allows none."""

    __slots__ = ("_prefixes", "directories", "key", "reader", "stores")

    def __init__(self, directories: Iterable[str | Path] | None, stores: str = "", reader: str = "") -> None:
        self.directories = None if directories is None else tuple(Path(d).resolve() for d in directories)
        self.stores = stores
        """The scope of allowed objects, such as s3://bucket/path; empty allows any object of any store."""
        self.reader = reader
        """Distinguishes catalogs whose credentials differ: what one has read is not shown to another. Empty for the
        catalogs of administrators and of the configuration."""
        within = "" if self.directories is None else "\0" + "\0".join(map(str, self.directories))
        scope = f"{within}\0\0{stores}" if stores else within
        self.key = f"{scope}\0\0\0{reader}" if reader else scope
        """Equal for equal roots only: part of the keys of caches of data read under them. The separator is NUL, which
        no location has, so that a location can't imitate the key of other roots."""
        self._prefixes = tuple(f"{str(d).rstrip('/')}/" for d in self.directories or ())

    def hold(self, path: str | Path) -> bool:
        """Returns whether a path, which need not exist, is below one of the directories."""
        return self.directories is None or f"{os.path.realpath(path)}/".startswith(self._prefixes)

    def hold_file(self, path: str, known: dict[str, bool]) -> bool:
        """Does the same for one of many files: `known` caches the directories that were checked. A scan has one such
        dictionary, so that it resolves each directory once.
        """
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
        """Returns whether an object, by the identity of its location, is in the allowed scope."""
        return not self.stores or covers(self.stores, identity)

    @property
    def texts(self) -> tuple[str, ...] | None:
        return None if self.directories is None else tuple(map(str, self.directories))

    def and_also(self, directories: Iterable[str | Path]) -> Roots:
        return self if self.directories is None else Roots((*self.directories, *directories), self.stores, self.reader)


EVERYWHERE = Roots(None)
