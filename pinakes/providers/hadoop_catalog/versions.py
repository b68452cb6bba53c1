"""Finds the current metadata file of a table, `metadata/vN.metadata.json`, with the help of `version-hint.text`.

The hint is written after the file, so it may be missing or outdated; the search begins there, as in Java.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from pinakes.core.errors import DataCorrupt

METADATA = "metadata"
DATA = "data"
HINT = "version-hint.text"

_VERSION = re.compile(r"v(\d+)(\.metadata\.json|\.gz\.metadata\.json|\.metadata\.json\.gz)\Z")


@dataclass(frozen=True, slots=True)
class Current:
    """The newest version of a table and its file."""

    version: int
    file: str


def versions_in(names: Iterable[str]) -> dict[int, str]:
    """Returns the metadata files among these names by version. If a version has several files, the uncompressed one is
    used.
    """
    found: dict[int, str] = {}
    for name in sorted(names):
        matched = _VERSION.match(name)
        if matched is not None and (int(matched[1]) not in found or matched[2] == ".metadata.json"):
            found[int(matched[1])] = name
    return found


def file_of(version: int) -> str:
    """Returns the file name of a new version. It is always uncompressed, so that two writers of a version use the same
    name.
    """
    return f"v{version}.metadata.json"


def current(versions: Mapping[int, str], hint: str | None, what: str) -> Current | None:
    """Returns the newest version, or None if there is none."""
    if not versions:
        return None
    hinted = int(hint) if hint is not None and hint.strip().isdecimal() else None
    newest = max(versions)
    if hinted is None or (hinted not in versions and hinted < newest):
        return Current(newest, versions[newest])  # no hint, or one to a version that has been cleaned up
    if hinted not in versions:
        raise DataCorrupt(
            f"{what} is damaged: {HINT} says version {hinted}, whose metadata file is missing; the newest is {newest}"
        )
    while hinted + 1 in versions:
        hinted += 1
    return Current(hinted, versions[hinted])


def check_free(versions: Mapping[int, str], version: int, what: str) -> bool:
    """Whether a new version can be written. Raises if the versions have a gap: a file beyond it would become current
    and hide the new one.
    """
    beyond = [v for v in versions if v > version]
    if beyond and version not in versions:
        raise DataCorrupt(
            f"{what} is damaged: it has a metadata file {versions[min(beyond)]}, but none of version {version}. "
            f"Look which one is right, and move the other away."
        )
    return version not in versions
