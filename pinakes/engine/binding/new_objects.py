"""Checks before a table or view is created: whether its name is free, and its location allowed."""

from __future__ import annotations

from pinakes.core.errors import InvalidArgument, TableExists, ViewExists
from pinakes.core.location import Location
from pinakes.engine.binding.namespaces import Found, Kind, Place
from pinakes.engine.files.access import FileAccess


def check_free(existing: Found | None, kind: Kind, *, replace: bool) -> None:
    """Raise unless the name is free, or its owner is of the same kind and may be replaced."""
    if existing is None or (replace and existing.kind == kind):
        return
    taken = ViewExists if existing.kind == "VIEW" else TableExists
    if existing.kind != kind:
        raise taken(f"{existing} is a {existing.kind.lower()}: a {kind.lower()} cannot have its name. Drop it first.")
    raise taken(f"{kind.lower()} {existing} exists already; use CREATE OR REPLACE {kind}, or IF NOT EXISTS")


def check_location(location: str | None, place: Place, access: FileAccess) -> None:
    """Nobody would remove what lies elsewhere; and a path of this machine must be one that SQL may touch."""
    if location is None:
        return
    if place.mount.is_private:
        raise InvalidArgument("a temporary table has no LOCATION: it lies where it goes with the session")
    access.location(Location.parse(location))
