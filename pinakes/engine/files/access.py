"""Which local files SQL may read and write by their path: all, or those below the configured directories.

A path is followed to where it really leads first, so that neither `..` nor a link leads out of them. What lies outside
is refused before anybody looks whether it exists.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pinakes.core.errors import InvalidArgument, PermissionDenied, listing

PRIVATE = "pinakes-temp-"
"""How the directories of sessions' temporary tables begin (`scratch.py`): what is in them is the session's own."""


class FileAccess:
    def __init__(self, roots: Sequence[str] | None) -> None:
        self._roots = None if roots is None else tuple(Path(root).resolve() for root in roots)

    def local(self, path: str) -> Path:
        """The absolute path behind a written one (`~` and relative ones too), or PermissionDenied."""
        try:
            found = Path(path).expanduser().absolute()
        except RuntimeError as error:
            raise InvalidArgument(f"'{path}': there is no user whose directory that could be") from error
        real = found.resolve()
        if any(part.startswith(PRIVATE) for part in real.parts):
            raise PermissionDenied(f"path '{path}' belongs to a session's temporary tables: read them by their names")
        if self._roots is not None and not any(real.is_relative_to(root) for root in self._roots):
            raise PermissionDenied(
                f"path '{path}' is outside of the directories that SQL may touch: {listing(map(str, self._roots))}. "
                f"They are set by engine.allowed_paths in the configuration."
            )
        return found
