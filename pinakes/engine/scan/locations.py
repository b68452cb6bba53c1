"""Where the files of a table are: locations that its metadata names, as paths of this machine and as addresses."""

from __future__ import annotations

from urllib.parse import quote


def local_path(location: str) -> str | None:
    """The path of a location on this machine; None for one elsewhere, and for one that is read in more than one way."""
    path = location
    if not path.startswith("/"):
        scheme, _, path = location.partition(":")
        if scheme != "file":
            return None
        path = path.removeprefix("//")
    if not path.startswith("/") or "//" in path or "/." in path or "?" in path or "#" in path or ";" in path:
        return None
    return path


def address_of(path: str) -> str:
    """A path as DataFusion takes it: what has a meaning of its own in an address is escaped."""
    return "file://" + quote(path)
