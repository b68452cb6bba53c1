"""Resolves a path to files: one file, a directory, or a pattern with * ? [ ] or **.

Access to every path and every listed directory is checked first (`access.py`), so that nothing outside of the allowed
directories is read, listed, or known to exist. Wildcards do not follow links to directories outside.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import translate
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from pinakes.core.errors import FileNotFound, InvalidArgument, NotSupportedError, PermissionDenied
from pinakes.engine.files.access import FileAccess
from pinakes.engine.files.archives import ENDING, find_member, open_member
from pinakes.engine.files.path_errors import check_directory, is_wanted, missing, refuse_table, unmatched, unreadable
from pinakes.engine.files.stamps import Stamp, stamp_of
from pinakes.parser.redaction import masked_address

if TYPE_CHECKING:
    import pyarrow as pa

    from pinakes.engine.files.object_stores.stores import Remote, Stores
    from pinakes.providers.rest.download import Download

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+)://")
_MAGIC = re.compile(r"[*?\[]")


@dataclass(frozen=True, slots=True)
class File:
    """A file to read: `path` is shown, `real` is opened, and `below` are its directories, as written by the user or
    matched by a pattern or directory.
    """

    path: str
    real: Path | Remote
    below: tuple[str, ...]
    stamp: Stamp = field(compare=False)
    is_foreign: bool = field(default=False, compare=False)
    """Whether it may have been made to harm a server (`reading/page_check.py`)."""
    may_be_hostile: bool = field(default=False, compare=False)
    """Whether formats that can not be read safely are refused: on a server, for all but administrators."""
    member: str | None = None
    """The name in the archive `real`, if the file is in one (`archives.py`)."""
    download: Download | None = field(default=None, compare=False, repr=False)
    """What keeps the temporary file of a web address."""

    def __str__(self) -> str:
        return f"'{self.path}'"

    @property
    def is_local(self) -> bool:
        return isinstance(self.real, Path)

    @property
    def local(self) -> Path:
        assert isinstance(self.real, Path)
        return self.real

    @property
    def suffixes(self) -> list[str]:
        return PurePosixPath(self.member or str(self.real)).suffixes

    def current_stamp(self) -> Stamp:
        """Returns the current stamp."""
        return stamp_of(self.real) if isinstance(self.real, Path) else self.real.stamp()

    def open(self) -> pa.NativeFile:
        """Opens the file for random access."""
        if self.member is not None:
            raise NotSupportedError(f"{self} is in an archive, of which it can't be read: unpack it")
        return _open(self.real) if isinstance(self.real, Path) else self.real.open()

    def stream(self) -> pa.NativeFile:
        """Opens the file for sequential reading."""
        if self.member is not None:
            return open_member(self.local, self.member)
        return _open(self.real) if isinstance(self.real, Path) else self.real.stream()


class Finder:
    """Finds files. `check` is called between directory listings, and raises if the statement was cancelled. `found`
    collects every file. `stores` provides access to object stores. Files are `foreign` on a server, and `hostile` there
    unless an administrator names them. `download` gives access to web addresses.
    """

    def __init__(
        self,
        access: FileAccess,
        check: Callable[[], None] = lambda: None,
        found: list[File] | None = None,
        stores: Callable[[], Stores] | None = None,
        *,
        foreign: bool = False,
        hostile: bool = False,
        download: Callable[[str], Download] | None = None,
    ) -> None:
        self._access = access
        self._foreign, self._hostile, self._download = foreign, hostile, download
        self._stores = stores
        self._check = check
        self._found = [] if found is None else found

    def files(self, written: Sequence[str], format: str | None = None) -> list[File]:
        """Returns each file once, in the order of the paths; those of one path are sorted by name."""
        found: dict[tuple[Path | Remote, str | None], File] = {}
        for path in written:
            for file in self._of(path, format):
                found.setdefault((file.real, file.member), file)
        self._found += found.values()
        return list(found.values())

    def _of(self, written: str, format: str | None) -> list[File]:
        if self._stores is not None and is_store_path(written):
            return self._remote(written, format, self._stores())
        if self._download is not None and is_web_address(written):
            return [self._downloaded(self._download(written))]
        path = self._access.local(local_text(written))
        if _MAGIC.search(str(path)) and not _exists(path):
            return self._matching(path, written)
        try:
            mode = path.stat().st_mode
        except PermissionError as error:
            raise unreadable(str(path)) from error
        except (OSError, ValueError) as error:
            archive = next((p for p in path.parents if p.suffix.lower() == ENDING and self._is_archive(p)), None)
            if archive is None:
                raise self._missing(path, written) from error
            return [self._file(archive, written, str(path.relative_to(archive)))]
        if stat.S_ISDIR(mode):
            return self._directory(path, written, format)
        if not stat.S_ISREG(mode):
            raise InvalidArgument(f"'{written}' can't be read as a table: it is a device or a pipe")
        return [self._file(path, written)]

    def _is_archive(self, path: Path) -> bool:
        return self._is_allowed(path) and path.is_file()

    def _file(self, path: Path, written: str, member: str | None = None) -> File:
        self._access.local(str(path))  # a link may lead out of the allowed directories
        here = Path.cwd()
        below = path.relative_to(here) if _is_relative(written) and path.is_relative_to(here) else path
        real = path.resolve()
        try:
            found = File(str(path), real, below.parts[:-1], stamp_of(real), self._foreign, self._hostile)
            return found if path.suffix.lower() != ENDING else _in_archive(found, member)
        except PermissionError as error:
            raise unreadable(str(path)) from error
        except OSError as error:
            raise self._missing(path, written) from error

    def _remote(self, written: str, format: str | None, stores: Stores) -> list[File]:
        from pinakes.engine.files.object_stores.paths import StoreFinder
        from pinakes.engine.files.object_stores.stores import Remote, call_parallel

        found = StoreFinder(stores, self._check).files(written, format)
        try:
            stamps = call_parallel(Remote.stamp, found)
        except FileNotFoundError as error:
            raise FileNotFound(f"a file of '{written}' was removed meanwhile: run the statement again") from error
        return [
            File(r.path, r, r.below, stamp, may_be_hostile=self._hostile)
            for r, stamp in zip(found, stamps, strict=True)
        ]

    def _downloaded(self, found: Download) -> File:
        stamp = stamp_of(found.path)
        file = File(found.shown, found.path, (), stamp, self._foreign, self._hostile, download=found)
        return _in_archive(file, None) if found.shown.lower().endswith(ENDING) else file

    def listed(self, path: str, below: tuple[str, ...]) -> File:
        """Returns a file that a catalog has listed; the catalog is responsible for its location."""
        try:
            real = Path(path).resolve()
            file = File(path, real, below, stamp_of(real), self._foreign, self._hostile)
        except PermissionError as error:
            raise unreadable(path) from error
        except OSError as error:
            raise FileNotFound(f"'{path}' was removed meanwhile: run the statement again") from error
        self._found.append(file)
        return file

    # --- patterns -------------------------------------------------------------------------------------------------

    def _matching(self, pattern: Path, written: str) -> list[File]:
        parts = pattern.parts
        first = next(i for i, part in enumerate(parts) if _MAGIC.search(part))
        base = Path(*parts[:first])
        matched = dict.fromkeys(self._walk(base, parts[first:]))
        files = [self._file(path, written) for path in matched if self._is_file(path)]
        if not files:
            near = [e.name for e in self._entries(base)] if _exists(base) else None
            raise unmatched(written, str(base), near)
        return sorted(files, key=lambda file: file.path)

    def _walk(self, base: Path, parts: Sequence[str]) -> Iterator[Path]:
        """Yields the paths below `base` that match the parts of a pattern."""
        if not parts:
            yield base
            return
        if not self._is_allowed(base):
            return
        head, rest = parts[0], parts[1:]
        if head == "**":
            yield from self._walk(base, rest or ("*",))
            for entry in self._entries(base):
                if entry.is_dir(follow_symlinks=False) and not entry.name.startswith("."):
                    yield from self._walk(Path(entry.path), parts)
        elif _MAGIC.search(head):
            wanted = re.compile(translate(head))
            for entry in self._entries(base):
                hidden = entry.name.startswith(".") and not head.startswith(".")
                if not hidden and wanted.match(entry.name) and (not rest or entry.is_dir()):
                    yield from self._walk(Path(entry.path), rest)
        elif rest or _exists(base / head):
            yield from self._walk(base / head, rest)

    def _entries(self, directory: Path) -> list[os.DirEntry[str]]:
        """Returns the entries of a directory; none if a link or .. leads outside of the allowed directories."""
        self._check()
        if not self._is_allowed(directory):
            return []
        try:
            with os.scandir(directory) as entries:
                return sorted(entries, key=lambda entry: entry.name)
        except PermissionError as error:
            raise unreadable(str(directory)) from error
        except OSError:
            return []

    def _is_allowed(self, directory: Path) -> bool:
        try:
            self._access.local(str(directory))
        except PermissionDenied:
            return False
        return True

    def _is_file(self, path: Path) -> bool:
        """Returns whether it is a file. Paths outside are rejected before they are inspected."""
        self._access.local(str(path))
        return path.is_file()

    # --- directories ----------------------------------------------------------------------------------------------

    def _directory(self, directory: Path, written: str, format: str | None) -> list[File]:
        """Returns the files of one format in a directory and below; names that start with . or _ are skipped."""
        self._refuse_tables(directory)
        paths = [p for p in self._below(directory) if is_wanted(p.name, format)]
        check_directory(written, [p.name for p in paths], format, (e.name for e in self._entries(directory)))
        return [self._file(p, written) for p in paths]

    def _below(self, directory: Path) -> Iterator[Path]:
        for entry in self._entries(directory):
            if entry.name.startswith((".", "_")):
                continue
            if entry.is_dir(follow_symlinks=False):
                yield from self._below(Path(entry.path))
            elif self._is_file(Path(entry.path)):
                yield Path(entry.path)

    def _refuse_tables(self, directory: Path) -> None:
        names = {entry.name for entry in self._entries(directory)}
        iceberg = "metadata" in names and any(
            entry.name.endswith(".metadata.json") for entry in self._entries(directory / "metadata")
        )
        refuse_table(str(directory), iceberg=iceberg, delta="_delta_log" in names)

    # --- errors ---------------------------------------------------------------------------------------------------

    def _missing(self, path: Path, written: str) -> FileNotFound:
        near = [entry.name for entry in self._entries(path.parent)]
        return missing(written, path.name, near, str(path.parent), exists=_exists(path.parent))


def _in_archive(archive: File, member: str | None) -> File:
    """Returns a file in an archive."""
    name = find_member(archive.local, archive.path, member)
    return replace(archive, path=f"{archive.path}/{name}", member=name)


def is_store_path(written: str) -> bool:
    """Returns whether a path is in an object store (`engine/files/object_stores/paths.py`)."""
    return written[:5].lower() == "s3://"


def is_web_address(written: str) -> bool:
    """Returns whether a path is an address that is downloaded (`providers/rest/download.py`)."""
    return written.lower().startswith(("https://", "http://", "hf://"))


def local_text(written: str) -> str:
    """Returns the local path; raises NotSupportedError for other schemes."""
    if not written or "\0" in written:
        raise InvalidArgument("a path is empty or has a NUL character in it: write one such as 'data/orders.parquet'")
    found = _SCHEME.match(written)
    if found is None:
        return written
    if found.group(1).lower() == "file":
        return unquote(urlsplit(written).path)
    if is_web_address(written):
        raise NotSupportedError(f"'{masked_address(written)}' can not be used here: copy the file to this machine")
    raise NotSupportedError(
        f"'{masked_address(written)}' can not be read: of addresses, only s3:// (with a secret), https:// and file:// "
        f"can. Copy the file to this machine and name its local path."
    )


def _open(path: Path) -> pa.NativeFile:
    import pyarrow as pa

    return pa.OSFile(str(path))


def _is_relative(written: str) -> bool:
    return not written.startswith(("/", "~", "file:"))


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):
        return False
