"""Locations as users write them: a path of this machine, a file: URI, or a URI of something else."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote, urlparse

from pinakes.core.errors import InvalidArgument


def is_remote(location: str) -> bool:
    """Whether a location is a URI of something else than this machine's files."""
    scheme = urlparse(location).scheme
    return len(scheme) > 1 and scheme != "file"


def local_path(location: str) -> Path:
    """The absolute path that a path or a file: URI names."""
    parsed = urlparse(location)
    if parsed.scheme == "file":
        return Path(unquote(parsed.path)).absolute()
    try:
        return Path(location).expanduser().absolute()
    except RuntimeError as error:
        raise InvalidArgument(f"'{location}': there is no user whose directory that could be") from error
