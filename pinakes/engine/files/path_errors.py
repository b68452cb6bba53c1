"""Errors about paths, with the same text for local paths and object stores."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pinakes.core.errors import FileNotFound, InvalidArgument, NotSupportedError, PermissionDenied, listing
from pinakes.core.file_formats import FOUND_ENDINGS, format_of, found_format_of
from pinakes.core.suggestions import close_to


def unreadable(path: str) -> PermissionDenied:
    return PermissionDenied(f"'{path}' can not be read: this process has no right to. Ask who owns it.")


def missing(written: str, name: str, near: Sequence[str], directory: str, *, exists: bool) -> FileNotFound:
    """Returns the error for a missing file; `near` are the other names in its directory."""
    close = close_to(name, near, most=3)
    if close:
        hint = f" Did you mean {' or '.join(map(repr, close))}?"
    elif near:
        hint = f" {directory!r} has: {listing(near)}."
    else:
        hint = "" if exists else " Its directory does not exist either."
    return FileNotFound(f"file '{written}' does not exist.{hint}")


class Unmatched(FileNotFound):
    """A pattern in an existing directory that no file matches: not an error for a caller that waits for files."""


def unmatched(written: str, base: str, near: Iterable[str] | None) -> Unmatched:
    known = "no such directory" if near is None else listing(near)
    return Unmatched(f"no file matches '{written}'; {base!r} has: {known}")


def is_wanted(name: str, format: str | None) -> bool:
    """Returns whether a file of a directory is to be read."""
    return format_of(name) == format if format else found_format_of(name) is not None


def check_directory(written: str, names: Iterable[str], format: str | None, top: Iterable[str]) -> None:
    """Fails if a directory has no files to read (`names`), or several formats; `top` are its entries."""
    formats = {format_of(name) or "" for name in names}
    if not formats:
        raise FileNotFound(
            f"directory '{written}' has no files that can be read as {format or 'a table'}; it has: "
            f"{listing(top)}. Endings: {listing(FOUND_ENDINGS, 20)}"
        )
    if len(formats) > 1:
        raise InvalidArgument(
            f"directory '{written}' has files of several formats ({listing(formats)}): say which with a pattern, "
            f"such as '{written.rstrip('/')}/**/*.parquet'"
        )


def refuse_table(directory: str, *, iceberg: bool, delta: bool) -> None:
    """Fails for the directory of a table: it may hold files that are no longer part of it, and reading them gives wrong
    rows.
    """
    if iceberg or delta:
        kind = "an Iceberg" if iceberg else "a Delta"
        raise NotSupportedError(
            f"'{directory}' is the directory of {kind} table: its files alone are not its rows. "
            f"ATTACH the catalog that has the table, or name files in it with a pattern."
        )
