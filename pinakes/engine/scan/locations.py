"""Where the files of a table are: locations that its metadata names, as paths of this machine and as addresses."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import quote

from pinakes.core.confined import PROPERTY

S3_SCHEMES = ("s3", "s3a", "s3n")


def local_path(location: str) -> str | None:
    """The path of a location on this machine; None for one elsewhere, and for one that is read in more than one way."""
    path = location
    if not path.startswith("/"):
        scheme, _, path = location.partition(":")
        if scheme != "file":
            return None
        path = path.removeprefix("//")
    return path if path.startswith("/") and _is_plain(path) else None


def s3_place(location: str) -> tuple[str, str] | None:
    """The bucket and the key of a location on S3; None for one elsewhere, and for one that is read in several ways."""
    scheme, _, rest = location.partition("://")
    bucket, _, key = rest.partition("/")
    if scheme not in S3_SCHEMES or not bucket or not key or key.endswith("/") or not _is_plain(f"/{key}"):
        return None
    return bucket, key


def address_of(path: str) -> str:
    """A path as DataFusion takes it: what has a meaning of its own in an address is escaped."""
    return "file://" + quote(path)


def s3_address(host: str, key: str) -> str:
    return f"s3://{host}/{quote(key)}"


def remembered_as(location: str, properties: Mapping[str, str]) -> str:
    """What a file is remembered by. Two object stores may have a bucket of one name: theirs are different files. What
    was read where more directories are allowed is not given to a catalog that is kept to fewer (`ConfinedIO`)."""
    if location.partition("://")[0] not in S3_SCHEMES:
        return f"{location} {properties[PROPERTY]}" if PROPERTY in properties else location
    return f"{properties.get('s3.endpoint', '')} {location}"


def _is_plain(path: str) -> bool:
    return not ("//" in path or "/." in path or "?" in path or "#" in path or ";" in path)
