"""The directories below the root of a `files` catalog: data files and subdirectories, and nothing outside the root."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from pinakes.core.errors import PermissionDenied
from pinakes.core.file_formats import format_of

_HIDDEN = (".", "_")


@dataclass(frozen=True)
class Directory:
    """The contents of a directory by kind, each sorted."""

    path: Path
    directories: list[str]
    data: list[str]
    """Files with the extension of a data format."""
    others: list[str]

    @property
    def formats(self) -> set[str]:
        return {format for name in self.data if (format := format_of(name)) is not None}

    @cached_property
    def is_lake(self) -> bool:
        """Whether this is an Iceberg or Delta table: its files alone are not its rows, so they are not listed as
        tables.
        """
        if (self.path / "_delta_log").is_dir():
            return True
        metadata = self.path / "metadata"
        return "metadata" in self.directories and any(
            ".metadata.json" in entry.name for entry in _scanned(metadata) if entry.is_file()
        )


class Directories:
    def __init__(self, root: Path) -> None:
        self.root = root

    def inside(self, path: str | Path) -> Path | None:
        """Returns a path below the root, or an absolute one in it; None if it leads outside."""
        found = self.root / path
        try:
            return found if found.resolve().is_relative_to(self.root.resolve()) else None
        except (OSError, RuntimeError, ValueError):  # a symlink loop, a NUL
            return None

    def at(self, *parts: str) -> Directory | None:
        """Returns the directory, or None if it does not exist."""
        if any(not part or part.startswith(_HIDDEN) or "/" in part for part in parts):
            return None
        path = self.inside(Path(*parts))
        if path is None or not path.is_dir():
            return None
        found = [entry for entry in _scanned(path) if self._is_seen(entry)]
        files = {entry.name: format_of(entry.name) for entry in found if entry.is_file()}
        return Directory(
            path,
            [entry.name for entry in found if entry.is_dir()],
            [name for name, format in files.items() if format is not None],
            [name for name, format in files.items() if format is None],
        )

    def data_below(self, path: Path) -> list[Path]:
        """Returns the data files in a directory and below it; links to directories are not followed."""
        return list(self._data_below(path))

    def _data_below(self, path: Path) -> Iterator[Path]:
        for entry in _scanned(path):
            if not self._is_seen(entry):
                continue
            if entry.is_dir(follow_symlinks=False):
                yield from self._data_below(Path(entry.path))
            elif entry.is_file() and format_of(entry.name) is not None:
                yield Path(entry.path)

    def _is_seen(self, entry: os.DirEntry[str]) -> bool:
        if entry.name.startswith(_HIDDEN) or not entry.name.isprintable():
            return False
        return not entry.is_symlink() or self.inside(entry.path) is not None


def is_partition(name: str) -> bool:
    """Whether a name is `key=value`, as Hive names the directories of a partitioned table."""
    key, mark, _ = name.partition("=")
    return bool(key and mark)


def _scanned(path: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(path) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except PermissionError as error:
        raise PermissionDenied(f"directory '{path}' can't be read: this process has no right to") from error
    except FileNotFoundError:
        return []  # just removed
