"""Access to the files of Iceberg tables, and the locations of new ones: created here, never by a class name from data.

Locations in a table's metadata are not trusted more than a user's text: each one is parsed (`core/location.py`) and, on
a server, must be in the directories that the catalog is confined to. The user who mounts a catalog determines them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import TYPE_CHECKING

from pyarrow import fs
from pyiceberg.io.pyarrow import PyArrowFile, PyArrowFileIO
from pyiceberg.table.locations import LocationProvider, ObjectStoreLocationProvider, SimpleLocationProvider

from pinakes.core.access.path_sandbox import EVERYWHERE, Roots
from pinakes.core.access.property_gate import FROM_SERVERS, WRITE_PATHS, allowed, without_strange_hosts
from pinakes.core.errors import InvalidArgument, PermissionDenied
from pinakes.core.location import Location

if TYPE_CHECKING:
    from pyiceberg.io import InputFile, OutputFile
    from pyiceberg.table.metadata import TableMetadata
    from pyiceberg.typedef import Properties

BUFFER = 1 << 20
"""The read-ahead buffer of a file in bytes, as in pyiceberg."""


class TableIO(PyArrowFileIO):
    """pyarrow's file access. Only the properties that `property_gate.FROM_SERVERS` lists apply; local files must be
    below `roots`.
    """

    def __init__(self, properties: Properties, roots: Roots = EVERYWHERE) -> None:
        super().__init__(without_strange_hosts(allowed(properties, FROM_SERVERS)))
        self.roots = roots

    def check(self, location: Location, known: dict[str, bool] | None = None) -> None:
        """Raises PermissionDenied for a file outside the roots; `known` caches results for many files."""
        if location.scheme != "file":
            if not self.roots.hold_object(location.identity):
                raise PermissionDenied(
                    f"'{location}' can't be a file of a table of this catalog: its files are in {self.roots.stores}… "
                    f"only. Credentials for other places are for administrators here, or need a STORAGE_SECRET whose "
                    f"SCOPE covers them."
                )
            return
        if not self.roots.hold_file(location.path, {} if known is None else known):
            raise PermissionDenied(
                f"'{location}' is a file of the server that the tables of this catalog can't have: it is outside of "
                f"the directories that SQL may touch (engine.allowed_paths) and of the catalog's own"
            )

    def new_input(self, location: str) -> PyArrowFile:
        return self._file(Location.parse(location))

    def new_output(self, location: str) -> PyArrowFile:
        return self._file(Location.parse(location))

    def delete(self, location: str | InputFile | OutputFile) -> None:
        found = Location.parse(location if isinstance(location, str) else location.location)
        self.check(found)
        super().delete(str(found))

    def files_below(self, location: Location) -> Iterator[tuple[Location, datetime]]:
        """Yields each file in a directory and below it, with its modification time. The paths have the same spelling as
        the location.
        """
        self.check(location)
        selector = fs.FileSelector(location.arrow_path, recursive=True, allow_not_found=True)
        start = location.text.removesuffix(location.path)
        for info in self.fs_by_scheme(location.scheme, location.authority).get_file_info(selector):
            if info.type == fs.FileType.File:
                yield Location.parse(start + info.path.removeprefix(location.authority)), info.mtime

    @staticmethod
    def parse_location(location: str, properties: Mapping[str, str] | None = None) -> tuple[str, str, str]:
        """Parses a location for pyiceberg's own code, whose parser would apply DEFAULT_SCHEME and truncate a path at
        '#'.
        """
        found = Location.parse(location)
        return found.scheme, found.authority, found.arrow_path

    def _file(self, location: Location) -> PyArrowFile:
        self.check(location)
        system = self.fs_by_scheme(location.scheme, location.authority)
        return PyArrowFile(fs=system, location=location.text, path=location.arrow_path, buffer_size=BUFFER)


def location_provider(location: str, properties: Mapping[str, str]) -> LocationProvider:
    """Returns one of pyiceberg's two location providers, regardless of the class that the table's properties name."""
    root = Location.parse(location.rstrip("/"))
    known = dict(properties)
    for key in WRITE_PATHS:
        if value := known.get(key):
            Location.parse(value)
    spread = known.get("write.object-storage.enabled", "false").strip().lower()
    if spread not in ("true", "false"):
        raise InvalidArgument(f"write.object-storage.enabled must be 'true' or 'false', not {spread!r}")
    made = ObjectStoreLocationProvider if spread == "true" else SimpleLocationProvider
    return made(root.text, known)


class OwnPlaces:
    """The directories of a table's own files: its location, and those in its properties. Files outside them are never
    deleted for a table, regardless of its metadata.
    """

    def __init__(self, metadata: TableMetadata) -> None:
        texts = (metadata.location, *(metadata.properties.get(key, "") for key in WRITE_PATHS))
        self._prefixes = tuple(f"{Location.parse(text.rstrip('/')).identity}/" for text in texts if text)

    def hold(self, location: str) -> bool:
        return Location.parse(location).identity.startswith(self._prefixes)
