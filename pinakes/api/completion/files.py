"""File names: what a directory has that begins with what was typed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pinakes.core.errors import PermissionDenied

if TYPE_CHECKING:
    from pinakes.engine.files.access import FileAccess

MOST = 200


def file_names(typed: str, access: FileAccess | None = None) -> list[str]:
    """Paths that go on from `typed`, as they would be typed; directories end with a slash. Nothing for addresses, and
    nothing from where `access` does not let SQL look."""
    if "://" in typed or "\0" in typed:
        return []
    folder, slash, begun = typed.rpartition("/")
    try:
        directory = access.local(folder + slash or ".") if access else Path(folder + slash or ".").expanduser()
        entries = sorted(directory.iterdir())
    except (OSError, RuntimeError, PermissionDenied):  # no such directory, no home, not allowed: nothing to offer
        return []
    shown = [entry for entry in entries if entry.name.startswith(begun) and _wanted(entry, begun)]
    return [f"{folder}{slash}{entry.name}{'/' if entry.is_dir() else ''}" for entry in shown[:MOST]]


def _wanted(entry: Path, begun: str) -> bool:
    """Hidden files only for who types their dot."""
    return begun.startswith(".") or not entry.name.startswith(".")
