"""Access to the files of Iceberg tables that keeps to some directories of this machine.

What a table's metadata names is believed no more than what a user writes: a catalog that somebody attached could name
any file of the server as one of its own. Which directories are allowed is decided by whoever mounts the catalog.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from pyiceberg.io.pyarrow import PyArrowFile, PyArrowFileIO

from pinakes.core.confined import PROPERTY, Roots
from pinakes.core.errors import PermissionDenied

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pyiceberg.io import FileIO, InputFile, OutputFile
    from pyiceberg.typedef import Properties


def confining(directories: Iterable[str]) -> dict[str, str]:
    """The properties by which pyiceberg makes a `ConfinedIO`."""
    return {"py-io-impl": f"{__name__}.ConfinedIO", PROPERTY: json.dumps(list(directories))}


class ConfinedIO(PyArrowFileIO):
    """pyarrow's access, with each local path looked at before it is used."""

    def __init__(self, properties: Properties) -> None:
        super().__init__(properties)
        self._roots = Roots(json.loads(properties[PROPERTY]))

    def check(self, location: str) -> None:
        scheme, _, path = self.parse_location(location, self.properties)
        if scheme == "file" and not self._roots.hold(path):
            raise PermissionDenied(
                f"'{location}' is a file of the server that the tables of this catalog can't have: it is outside of "
                f"the directories that SQL may touch (engine.allowed_paths) and of the catalog's own"
            )

    def new_input(self, location: str) -> PyArrowFile:
        self.check(location)
        return super().new_input(location)

    def new_output(self, location: str) -> PyArrowFile:
        self.check(location)
        return super().new_output(location)

    def delete(self, location: str | InputFile | OutputFile) -> None:
        self.check(location if isinstance(location, str) else location.location)
        super().delete(location)


def check_location(io: FileIO | Any, location: str) -> None:
    """For who reads a file by its path and not through `io`."""
    if isinstance(io, ConfinedIO):
        io.check(location)
