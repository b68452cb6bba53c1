"""Restricts the local files that SQL may access by path: all, or those below the configured directories.

A path is resolved first, so that neither `..` nor a link leads out of them. Paths outside are rejected before their
existence is checked. `engine/catalogs/authorization/guard.py` checks the user's privileges.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from pinakes.core.access.path_sandbox import Roots
from pinakes.core.errors import InvalidArgument, PermissionDenied, listing
from pinakes.core.location import Location

PRIVATE = "pinakes-temp-"
"""The prefix of the directories of temporary tables (`scratch.py`), which belong to their session."""


class FileAccess:
    """Checks paths. `refusal` is the error text for paths outside, in place of the list of directories."""

    def __init__(self, roots: Iterable[str | Path] | None, refusal: str = "") -> None:
        self.roots = Roots(roots)
        self._refusal = refusal

    def redacted(self) -> FileAccess:
        """Returns the same restriction with errors that do not show the server's directories."""
        return FileAccess(
            self.roots.directories, "it is outside of the directories that SQL may touch on this server. Ask for one."
        )

    def local(self, path: str) -> Path:
        """Returns the absolute path (also of `~` and relative paths), or raises PermissionDenied."""
        if self._refusal and self.roots.directories == ():
            raise PermissionDenied(f"path '{path}': {self._refusal}")
        try:
            found = Path(path).expanduser().absolute()
        except RuntimeError as error:
            raise InvalidArgument(f"'{path}': there is no user whose directory that could be") from error
        if any(part.startswith(PRIVATE) for part in found.resolve().parts):
            raise PermissionDenied(f"path '{path}' belongs to a session's temporary tables: read them by their names")
        if not self.roots.hold(found):
            raise PermissionDenied(f"path '{path}'{self._outside()}")
        return found

    def location(self, location: Location) -> None:
        """Raises PermissionDenied for a local location outside. Remote locations are protected by secrets."""
        if location.is_local:
            self.local(location.path)

    def _outside(self) -> str:
        if self._refusal:
            return f": {self._refusal}"
        allowed = listing(map(str, self.roots.directories or ()))
        return (
            f" is outside of the directories that SQL may touch: {allowed}. "
            f"They are set by engine.allowed_paths in the configuration."
        )
