"""The directory that a HadoopCatalog lives in, as it is read: on this machine, or on an object store."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from pinakes.core.errors import InvalidArgument, PermissionDenied
from pinakes.core.location import Location

if TYPE_CHECKING:
    from pyarrow.fs import FileSystem

Entries = Mapping[str, bool]
"""What is in a directory: names, and whether each is a directory."""

LONGEST = 255
"""Bytes that a file system allows for a name."""


class Warehouse(Protocol):
    def location(self, *parts: str) -> str:
        """The path below the warehouse, as it stands in metadata."""
        ...

    def entries(self, *parts: str) -> Entries | None:
        """What is in a directory, hidden things too; None when there is no such directory in the warehouse."""
        ...

    def text(self, *parts: str) -> str | None:
        """A small file, or None when it is not there."""
        ...


def check_name(name: str, what: str) -> None:
    """Raise unless a directory can have the name, and no other reader is led astray by it."""
    if not name:
        raise InvalidArgument(f"a {what} needs a name, and this one has an empty level")
    wrong = next((c for c in "/\\:\0" if c in name), None)
    if wrong is not None or name.startswith(".") or not name.isprintable():
        raise InvalidArgument(
            f"a {what} can't be called {name!r} here: in a hadoop catalog a name is a directory's, which has no "
            f"'/', '\\', ':' or control character in it and does not begin with a dot"
        )
    if len(name.encode(errors="surrogatepass")) > LONGEST:
        raise InvalidArgument(f"the name of the {what} is longer than the {LONGEST} bytes that a directory's can have")


def is_name(name: str) -> bool:
    try:
        check_name(name, "table")
    except InvalidArgument:
        return False
    return True


class LocalDirectory:
    """A directory of this machine. What a link leads out of it to is not in it."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def location(self, *parts: str) -> str:
        return str(self.root.joinpath(*parts))

    def path(self, *parts: str) -> Path | None:
        """The path, if everything it leads through is in the warehouse."""
        found = self.root.joinpath(*parts)
        try:
            return found if found.resolve().is_relative_to(self.root.resolve()) else None
        except (OSError, RuntimeError, ValueError):  # a loop of links, a NUL
            return None

    def entries(self, *parts: str) -> Entries | None:
        path = self.path(*parts)
        if path is None:
            return None
        try:
            with os.scandir(path) as found:
                return {entry.name: _is_directory(entry) for entry in found}
        except (FileNotFoundError, NotADirectoryError):
            return None
        except PermissionError as error:
            raise PermissionDenied(f"directory '{path}' can't be read: this process has no right to") from error

    def text(self, *parts: str) -> str | None:
        path = self.path(*parts)
        try:
            return None if path is None else path.read_text(encoding="utf-8", errors="replace")
        except FileNotFoundError:
            return None


def _is_directory(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link that leads to itself
        return False


class ObjectStore:
    """A prefix of an object store, through pyiceberg's file access."""

    def __init__(self, root: Location, properties: Mapping[str, str]) -> None:
        self._root = root
        self._properties = properties
        self._files: FileSystem | None = None

    def location(self, *parts: str) -> str:
        return "/".join((self._root.text, *parts))

    def entries(self, *parts: str) -> Entries | None:
        from pyarrow.fs import FileSelector, FileType

        files, path = self._found(*parts)
        try:
            found = files.get_file_info(FileSelector(path))
        except FileNotFoundError:
            return None
        return {info.base_name: info.type == FileType.Directory for info in found}

    def text(self, *parts: str) -> str | None:
        files, path = self._found(*parts)
        try:
            with files.open_input_stream(path) as stream:
                return bytes(stream.read()).decode(errors="replace")
        except FileNotFoundError:
            return None

    def _found(self, *parts: str) -> tuple[FileSystem, str]:
        """The file system, and the path in it."""
        from pinakes.providers.table_io import TableIO

        if self._files is None:
            self._files = TableIO(dict(self._properties)).fs_by_scheme(self._root.scheme, self._root.authority)
        return self._files, Location.parse(self.location(*parts)).arrow_path
