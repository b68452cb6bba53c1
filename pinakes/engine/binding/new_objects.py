"""Checks before a table or view is created or renamed: is its name free, is its location allowed, where does it go."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from pinakes.core.errors import InvalidArgument, TableExists, ViewExists
from pinakes.core.names import Name, Namespace
from pinakes.engine.binding.namespaces import Kind, ResolvedNamespace, ResolvedTable

if TYPE_CHECKING:
    from pinakes.engine.binding.resolver import Resolver
    from pinakes.engine.catalogs.authorization.guard import Guard


def check_free(existing: ResolvedTable | None, kind: Kind, *, replace: bool) -> None:
    """Raise unless the name is free, or its owner is of the same kind and may be replaced."""
    if existing is None or (replace and existing.kind == kind):
        return
    taken = ViewExists if existing.kind == "VIEW" else TableExists
    if existing.kind != kind:
        raise taken(f"{existing} is a {existing.kind.lower()}: a {kind.lower()} cannot have its name. Drop it first.")
    raise taken(f"{kind.lower()} {existing} already exists; use CREATE OR REPLACE {kind}, or IF NOT EXISTS")


def check_places(
    location: str | None, properties: Iterable[tuple[str, str]], place: ResolvedNamespace, guard: Guard
) -> None:
    """The location of a new table, and those among its properties. A temporary table has none: its files are removed
    with the session."""
    if location is not None and place.mount.is_private:
        raise InvalidArgument("a temporary table has no LOCATION: its files are removed with the session")
    guard.places(place.mount.mount, location, properties)


def rename_target(found: ResolvedTable, target: Name, resolver: Resolver) -> tuple[Namespace, str]:
    """The namespace and name that RENAME TO gives a table or view. A target of one part stays in its namespace; no
    rename goes to another catalog."""
    if len(target.parts) == 1:
        return found.place.namespace, target.last.exact
    place, name = resolver.new_object(target)
    if place.mount != found.place.mount:
        raise InvalidArgument(
            f"{found} cannot move from catalog '{found.place.mount.name}' to '{place.mount.name}': "
            f"use CREATE TABLE … AS SELECT and DROP TABLE"
        )
    return place.namespace, name
