"""Checks before a table or view is created: whether its name is free, and its location allowed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from pinakes.core.errors import InvalidArgument, TableExists, ViewExists
from pinakes.engine.binding.namespaces import Found, Kind, Place

if TYPE_CHECKING:
    from pinakes.engine.catalogs.authorization.guard import Guard


def check_free(existing: Found | None, kind: Kind, *, replace: bool) -> None:
    """Raise unless the name is free, or its owner is of the same kind and may be replaced."""
    if existing is None or (replace and existing.kind == kind):
        return
    taken = ViewExists if existing.kind == "VIEW" else TableExists
    if existing.kind != kind:
        raise taken(f"{existing} is a {existing.kind.lower()}: a {kind.lower()} cannot have its name. Drop it first.")
    raise taken(f"{kind.lower()} {existing} exists already; use CREATE OR REPLACE {kind}, or IF NOT EXISTS")


def check_places(location: str | None, properties: Iterable[tuple[str, str]], place: Place, guard: Guard) -> None:
    """The location of a new table, and those among its properties. A temporary table has none: its files are removed
    with the session."""
    if location is not None and place.mount.is_private:
        raise InvalidArgument("a temporary table has no LOCATION: its files are removed with the session")
    guard.places(place.mount.mount, location, properties)
