"""Locations of catalogs and warehouses as users write them: relative paths and `~`, in addition to the forms of
`Location`.
"""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import unquote

from pinakes.core.errors import InvalidArgument
from pinakes.core.location import Location

_ADDRESS = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):")


def is_address(location: str) -> bool:
    """Whether a text begins with a scheme; a single letter is a drive."""
    return _ADDRESS.match(location) is not None


def is_remote(location: str) -> bool:
    """Whether a text is an address other than a local file, with a known scheme or not."""
    return is_address(location) and not location.startswith("file:")


def written_location(location: str) -> Location:
    """Returns the location that a user means. A file: URI is percent-decoded, as in a browser; in metadata it is
    literal.
    """
    if is_address(location) or location.strip() != location:
        found = Location.parse(location)
        return Location.parse(unquote(found.path)) if found.is_local and "%" in location else found
    try:
        path = Path(location).expanduser().absolute()
    except RuntimeError as error:
        raise InvalidArgument(f"'{location}': there is no user whose directory that could be") from error
    return Location.parse(str(path.resolve() if ".." in path.parts else path))


def local_path(location: str) -> Path:
    """Returns the absolute path of a path or a file: URI."""
    found = written_location(location)
    if not found.is_local:
        raise InvalidArgument(f"'{location}' must be a path of this machine, and {found.scheme}:// is not")
    return Path(found.path)
