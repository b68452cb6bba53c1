"""Which local files SQL may read and write by their path: all, or those below the configured directories.

A path is followed to where it really leads first, so that neither `..` nor a link leads out of them. What lies outside
is refused before anybody looks whether it exists.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pinakes.core.errors import PermissionDenied, listing


class FileAccess:
    def __init__(self, roots: Sequence[str] | None) -> None:
        self._roots = None if roots is None else tuple(Path(root).resolve() for root in roots)

    def local(self, path: str) -> Path:
        """The absolute path behind a written one (`~` and relative ones too), or PermissionDenied."""
        found = Path(path).expanduser().absolute()
        if self._roots is None:
            return found
        real = found.resolve()
        if not any(real.is_relative_to(root) for root in self._roots):
            raise PermissionDenied(
                f"path '{path}' is outside of the directories that SQL may touch: {listing(map(str, self._roots))}. "
                f"They are set by engine.allowed_paths in the configuration."
            )
        return found
