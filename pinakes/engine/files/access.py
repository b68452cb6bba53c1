"""Which local files SQL may read and write by their path: all, or those below the configured directories.

A path is followed to where it really leads first, so that neither `..` nor a link leads out of them. What lies outside
is refused before anybody looks whether it exists. Whose files these are, `engine/catalogs/authorization/guard.py` says.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from pinakes.core.errors import InvalidArgument, PermissionDenied, listing
from pinakes.core.location import Location
from pinakes.core.path_sandbox import Roots

PRIVATE = "pinakes-temp-"
"""How the directories of sessions' temporary tables begin (`scratch.py`): what is in them is the session's own."""


class FileAccess:
    """`refusal` is what is said of any path outside, instead of which directories there are."""

    def __init__(self, roots: Iterable[str | Path] | None, refusal: str = "") -> None:
        self.roots = Roots(roots)
        self._refusal = refusal

    def discreet(self) -> FileAccess:
        """The same for somebody whom the server's directories do not concern."""
        return FileAccess(
            self.roots.directories, "it is outside of the directories that SQL may touch on this server. Ask for one."
        )

    def local(self, path: str) -> Path:
        """The absolute path behind a written one (`~` and relative ones too), or PermissionDenied."""
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
        """PermissionDenied for a location of this machine that is outside. What lies elsewhere is reached with the
        user's own secrets, or not at all."""
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
