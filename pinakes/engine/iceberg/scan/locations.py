"""Locations of data files as local paths and as URLs that DataFusion accepts."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

from pinakes.core.location import Location
from pinakes.providers.iceberg.table_io import TableIO

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
    """Returns the local path of a location; None for a remote one, or one that DataFusion would parse differently."""
    return location.path if location.scheme == "file" and _is_plain(location.path) else None


def s3_place(location: Location) -> tuple[str, str] | None:
    """Returns the bucket and key of an S3 location; None for other locations, and for ambiguous ones."""
    path = location.path
    if location.scheme not in S3_SCHEMES or len(path) < 2 or path.endswith("/") or not _is_plain(path):
        return None
    return location.authority, path[1:]


def s3_address(host: str, key: str) -> str:
    return f"s3://{host}/{quote(key)}"


def remembered_as(location: str, io: FileIO) -> str:
    """Returns the cache key of a file.

    It has the hosts, since two object stores may have buckets of the same name, and the roots of the catalog
    (`TableIO.roots`), so that a restricted catalog does not see files that another one has read.
    """
    found = Location.parse(location)
    if found.scheme != "file":
        location = "\0".join((location, *(str(io.properties.get(key, "")) for key in _HOSTS)))
    return f"{location}{io.roots.key}" if isinstance(io, TableIO) else location


def _is_plain(path: str) -> bool:
    return not ("//" in path or "/." in path or "?" in path or "#" in path or ";" in path)
