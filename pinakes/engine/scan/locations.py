"""Where the files of a table are: locations that its metadata names, as paths of this machine."""

from __future__ import annotations

from pathlib import Path


def local_path(location: str) -> Path | None:
    """The path of a location on this machine; None for one elsewhere, and for one that is read in more than one way."""
    path = location
    if "://" in location[:16]:
        scheme, _, path = location.partition("://")
        if scheme != "file":
            return None
    elif location.startswith("file:"):
        path = location[5:]
    if not path.startswith("/") or any(c in path for c in "?#;") or "//" in path or "/." in path:
        return None
    return Path(path)
