"""Catalog type `files`: a read-only local directory of Parquet, CSV, JSON and Arrow files.

A directory is a namespace and a file `orders.parquet` the table `orders`; if several files have that stem, each is
named by its full file name. A directory of `key=value` directories is one table. With TABLES 'directories', a directory
that contains only data files of one format is also one table. Names that begin with `.` or `_` are ignored, and so are
links that lead out of the directory.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from pinakes.core.catalog import FilesTable
from pinakes.core.errors import (
    CatalogUnavailable,
    InvalidArgument,
    NamespaceNotFound,
    NotSupportedError,
    PermissionDenied,
    TableNotFound,
    listing,
)
from pinakes.core.file_formats import FOUND_ENDINGS, found_format_of, stem_of
from pinakes.core.names import Namespace, dotted
from pinakes.core.secrets import ANONYMOUS, Access
from pinakes.providers.locations import is_remote, local_path
from pinakes.providers.options import option, parse_options, with_default_namespace

if TYPE_CHECKING:
    from pinakes.parser.statements import OptionValue


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
        return {format for name in self.data if (format := found_format_of(name)) is not None}

    @cached_property
    def is_lake(self) -> bool:
        """Whether this is an Iceberg or Delta table: its files alone are not its rows, so they are not listed as
        tables.
        """
        if (self.path / "_delta_log").is_dir():
            return True
        metadata = self.path / "metadata"
        return "metadata" in self.directories and any(
            ".metadata.json" in entry.name for entry in _scan(metadata) if entry.is_file()
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
        found = [entry for entry in _scan(path) if self._is_seen(entry)]
        files = {entry.name: found_format_of(entry.name) for entry in found if entry.is_file()}
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
        for entry in _scan(path):
            if not self._is_seen(entry):
                continue
            if entry.is_dir(follow_symlinks=False):
                yield from self._data_below(Path(entry.path))
            elif entry.is_file() and found_format_of(entry.name) is not None:
                yield Path(entry.path)

    def _is_seen(self, entry: os.DirEntry[str]) -> bool:
        if entry.name.startswith(_HIDDEN) or not entry.name.isprintable():
            return False
        return not entry.is_symlink() or self.inside(entry.path) is not None


def is_partition(name: str) -> bool:
    """Whether a name is `key=value`, as Hive names the directories of a partitioned table."""
    key, mark, _ = name.partition("=")
    return bool(key and mark)


def _scan(path: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(path) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except PermissionError as error:
        raise PermissionDenied(f"directory '{path}' can't be read: this process has no right to") from error
    except FileNotFoundError:
        return []  # just removed


_TABLES = ("files", "directories")


@dataclass(frozen=True, slots=True)
class FilesOptions:
    """The options of ATTACH … (TYPE files, …)."""

    tables: str = option(
        "files: every file is a table; directories: a directory with files of one format is a table as well",
        default="files",
    )
    union_by_name: bool = option("whether files of a table can lack columns of other files", default=False)
    default_namespace: str | None = option("namespace for names without one, such as 'a.b'", default=None)


class FilesCatalog:
    TYPE: ClassVar[str] = "files"
    Options: ClassVar[type[FilesOptions]] = FilesOptions
    LOCAL_PATHS: ClassVar[tuple[str, ...]] = ("location",)

    def __init__(self, root: Path, options: FilesOptions) -> None:
        self._directories = Directories(root)
        self._by_directory = options.tables.lower() == "directories"
        self._options = {"union_by_name": True} if options.union_by_name else {}

    @classmethod
    def open(
        cls, alias: str, location: str, options: Mapping[str, OptionValue], access: Access = ANONYMOUS
    ) -> FilesCatalog:
        """Opens the catalog of the directory at `location`."""
        parsed = parse_options(FilesOptions, options, f"catalog type {cls.TYPE}")
        if parsed.tables.lower() not in _TABLES:
            raise InvalidArgument(f"option TABLES of catalog type {cls.TYPE} must be one of {', '.join(_TABLES)}")
        if not location or is_remote(location):
            raise NotSupportedError(
                f"catalog type {cls.TYPE} needs a directory of this machine as its location. Copy the files here, or "
                f"make Iceberg tables of them."
            )
        if access.secret is not None or access.storage is not None:
            raise InvalidArgument(f"catalog type {cls.TYPE} takes no secret: leave out SECRET and STORAGE_SECRET")
        return with_default_namespace(cls, parsed.default_namespace)(local_path(location), parsed)

    @property
    def type(self) -> str:
        return self.TYPE

    @property
    def why_read_only(self) -> str:
        return "files are read-only here. COPY … TO writes a file, CREATE TABLE … AS an Iceberg table"

    def check(self) -> None:
        if self._directories.at() is None:
            raise CatalogUnavailable(f"'{self._directories.root}' is not a directory: give a directory with files")

    def close(self) -> None:
        """Does nothing: there are no resources to release."""

    # --- namespaces ----------------------------------------------------------------------------------------------

    def list_namespaces(self, parent: Namespace = ()) -> list[Namespace]:
        directory = self._require(parent)
        return [(*parent, name) for name in directory.directories if self._namespace((*parent, name)) is not None]

    def namespace_exists(self, namespace: Namespace) -> bool:
        return self._namespace(namespace) is not None

    def load_namespace(self, namespace: Namespace) -> dict[str, str]:
        return {"location": str(self._require(namespace).path)}

    # --- tables --------------------------------------------------------------------------------------------------

    @property
    def has_root_tables(self) -> bool:
        return True

    def list_tables(self, namespace: Namespace) -> list[str]:
        return sorted(self._tables(namespace))

    def load_table(self, namespace: Namespace, name: str) -> FilesTable:
        tables = self._tables(namespace)
        if name not in tables:
            raise self._no_table(namespace, name, tables)
        return self._table(namespace, name, tables[name])

    def load_path(self, path: str) -> FilesTable:
        """Loads a file or a directory of files by its path relative to the catalog's directory."""
        found = self._directories.inside(path)
        if found is None:
            raise PermissionDenied(f"path '{path}' leads out of the directory of the catalog, {self._directories.root}")
        if not found.exists():
            raise TableNotFound(f"file '{path}' does not exist in {self._directories.root}")
        return self._table((), path, found)

    # --- internals -----------------------------------------------------------------------------------------------

    def _namespace(self, namespace: Namespace) -> Directory | None:
        """Returns the directory of a namespace, unless it is a table's."""
        directory = self._directories.at(*namespace)
        if directory is None or (namespace and (self._is_table(directory) or directory.is_lake)):
            return None
        return directory

    def _require(self, namespace: Namespace) -> Directory:
        found = self._namespace(namespace)
        if found is None:
            self.check()  # raises if the catalog's directory itself does not exist
            raise NamespaceNotFound(f"namespace {dotted(namespace)} does not exist")
        return found

    def _is_table(self, directory: Directory) -> bool:
        if directory.is_lake:
            return False
        if directory.directories:
            return not directory.data and all(is_partition(name) for name in directory.directories)
        return self._by_directory and len(directory.formats) == 1 and not directory.others

    def _tables(self, namespace: Namespace) -> dict[str, Path]:
        """Returns each table's file or directory by table name."""
        directory = self._require(namespace)
        inside = ((name, self._directories.at(*namespace, name)) for name in directory.directories)
        tables = {name: found.path for name, found in inside if found is not None and self._is_table(found)}
        stems = {name: stem_of(name) for name in directory.data}
        shared = Counter([*tables, *stems.values()])
        for name, stem in stems.items():
            tables[stem if shared[stem] == 1 else name] = directory.path / name
        return tables

    def _table(self, namespace: Namespace, name: str, path: Path) -> FilesTable:
        if path.is_dir():
            files = self._directories.data_below(path)
            formats = {found_format_of(file.name) for file in files}
            if len(formats) != 1:
                raise InvalidArgument(
                    f"directory '{path}' can't be read as one table: it has files of "
                    f"{listing(str(f) for f in formats) if formats else 'no format that is known'}"
                )
            return FilesTable(namespace, name, str(formats.pop()), tuple(map(str, files)), str(path), self._options)
        format = found_format_of(path.name)
        if format is None:
            raise InvalidArgument(
                f"the ending of '{path}' does not say what is in it; endings: {listing(FOUND_ENDINGS, 20)}"
            )
        return FilesTable(namespace, name, format, (str(path),))

    def _no_table(self, namespace: Namespace, name: str, tables: Mapping[str, Path]) -> TableNotFound:
        same = [file.name for file in tables.values() if stem_of(file.name) == name]
        several = f": {listing(same)} have that name. Write one of these in full, quoted" if same else ""
        return TableNotFound(f"table {dotted((*namespace, name))} does not exist{several}")
