"""Where the files of a table are: locations as paths of this machine and as addresses that DataFusion takes."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

from pinakes.core.location import Location
from pinakes.providers.table_io import TableIO

if TYPE_CHECKING:
    from pyiceberg.io import FileIO

S3_SCHEMES = ("s3", "s3a", "s3n")
_HOSTS = (
    "s3.endpoint",
    "gcs.service.host",
    "adls.account-name",
    "adls.account-host",
    "adls.blob-storage-authority",
    "adls.dfs-storage-authority",
)
"""Properties that say where an object store is."""


def local_path(location: Location) -> str | None:
    """The path of a location on this machine; None for one elsewhere, and for one that DataFusion reads otherwise."""
    return location.path if location.scheme == "file" and _is_plain(location.path) else None


def s3_place(location: Location) -> tuple[str, str] | None:
    """The bucket and the key of a location on S3; None for one elsewhere, and for one that is read in several ways."""
    path = location.path
    if location.scheme not in S3_SCHEMES or len(path) < 2 or path.endswith("/") or not _is_plain(path):
        return None
    return location.authority, path[1:]


def address_of(path: str) -> str:
    """A path as DataFusion takes it: what has a meaning of its own in an address is escaped."""
    return "file://" + quote(path)


def s3_address(host: str, key: str) -> str:
    return f"s3://{host}/{quote(key)}"


def remembered_as(location: str, io: FileIO) -> str:
    """What a file is remembered by. Two object stores may have a bucket of one name: theirs are different files. What
    was read where more is allowed is not given to a catalog that is kept to less (`TableIO.roots`)."""
    found = Location.parse(location)
    if found.scheme != "file":
        location = "\0".join((location, *(str(io.properties.get(key, "")) for key in _HOSTS)))
    return f"{location}{io.roots.key}" if isinstance(io, TableIO) else location


def _is_plain(path: str) -> bool:
    return not ("//" in path or "/." in path or "?" in path or "#" in path or ";" in path)
