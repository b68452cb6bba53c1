"""Completion of file names."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pinakes.core.errors import PermissionDenied

if TYPE_CHECKING:
    from pinakes.engine.files.access import FileAccess

MOST = 200


def file_names(typed: str, access: FileAccess | None = None) -> list[str]:
    """Returns paths that begin with `typed`; directories end with a slash. Returns nothing for URLs and for paths that
    `access` forbids."""
    if "://" in typed or "\0" in typed:
        return []
    folder, slash, begun = typed.rpartition("/")
    try:
        directory = access.local(folder + slash or ".") if access else Path(folder + slash or ".").expanduser()
        entries = sorted(directory.iterdir())
    except (OSError, RuntimeError, PermissionDenied):  # no such directory, no home directory, or no access
        return []
    shown = [entry for entry in entries if entry.name.startswith(begun) and _wanted(entry, begun)]
    return [f"{folder}{slash}{entry.name}{'/' if entry.is_dir() else ''}" for entry in shown[:MOST]]


def _wanted(entry: Path, begun: str) -> bool:
    """Includes hidden files only if the typed name begins with a dot."""
    return begun.startswith(".") or not entry.name.startswith(".")
