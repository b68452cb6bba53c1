"""Read access to the directory of a HadoopCatalog, local or on an object store."""

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
"""The contents of a directory: names, and whether each is a directory."""

LONGEST = 255
"""The maximum length of a name on a file system, in bytes."""


class Warehouse(Protocol):
    def location(self, *parts: str) -> str:
        """Returns the path below the warehouse, as written in metadata."""
        ...

    def entries(self, *parts: str) -> Entries | None:
        """Returns the contents of a directory, including hidden entries; None if it does not exist in the warehouse."""
        ...

    def text(self, *parts: str) -> str | None:
        """Returns the contents of a small file, or None if it does not exist."""
        ...


def check_name(name: str, what: str) -> None:
    """Raises unless the name is valid for a directory and unambiguous to other readers."""
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
    """A local directory. Targets of links that lead out of it are not part of it."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def location(self, *parts: str) -> str:
        return str(self.root.joinpath(*parts))

    def path(self, *parts: str) -> Path | None:
        """Returns the path if it resolves to a location in the warehouse, else None."""
        found = self.root.joinpath(*parts)
        try:
            return found if found.resolve().is_relative_to(self.root.resolve()) else None
        except (OSError, RuntimeError, ValueError):  # a symlink loop, a NUL
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
    except OSError:  # a link to itself
        return False


class ObjectStore:
    """A prefix of an object store, read through pyiceberg's file access."""

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
        """Returns the file system and the path in it."""
        from pinakes.providers.iceberg.table_io import TableIO

        if self._files is None:
            self._files = TableIO(dict(self._properties)).fs_by_scheme(self._root.scheme, self._root.authority)
        return self._files, Location.parse(self.location(*parts)).arrow_path
