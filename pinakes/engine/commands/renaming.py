"""Where a renamed table or view goes: a name of one part stays in its namespace; catalogs cannot be crossed."""

from __future__ import annotations

from pinakes.core.errors import InvalidArgument
from pinakes.core.names import Name, Namespace
from pinakes.engine.binding.namespaces import Found
from pinakes.engine.binding.resolver import Resolver


def renamed(found: Found, target: Name, resolver: Resolver) -> tuple[Namespace, str]:
    if len(target.parts) == 1:
        return found.place.namespace, target.last.exact
    place, name = resolver.new_object(target)
    if place.mount != found.place.mount:
        raise InvalidArgument(
            f"{found} cannot move from catalog '{found.place.mount.name}' to '{place.mount.name}': "
            f"use CREATE TABLE … AS SELECT and DROP TABLE"
        )
    return place.namespace, name
