"""Empties caches on demand: all of a cache, or its entries of a catalog, a namespace or a table.

A flush only matters for changes by others: this engine's own changes are never stale.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pinakes.caches.registry import Caches
from pinakes.core.errors import InvalidArgument, listing
from pinakes.core.names import Namespace

ALL = "all"


@dataclass(frozen=True, slots=True)
class Target:
    """The entries to invalidate: those of a mount, of one of its namespaces, or of one table or view."""

    mount: str
    namespace: Namespace | None = None
    name: str | None = None
    location: str | None = None
    """The directory of a table, a prefix of the paths of its files."""

    def covers(self, mount: str, namespace: Namespace = (), name: str | None = None) -> bool:
        if mount != self.mount or (self.namespace is not None and namespace != self.namespace):
            return False
        return self.name is None or name is None or name == self.name


def flush(caches: Caches[Any], name: str, target: Target | None = None) -> int:
    """Empties a cache, or `all`. Returns the number of removed entries."""
    every = {cache.name: cache for cache in caches.every()}
    wanted = name.lower()
    if wanted != ALL and wanted not in every:
        raise InvalidArgument(f"there is no cache {name!r}; available: {listing([ALL, *every])}")
    if target is None:
        return sum(cache.clear() for cache in every.values() if wanted in (ALL, cache.name))
    if wanted not in (ALL, *_OF_TARGETS):
        raise InvalidArgument(f"the entries of {wanted} are of no single table: flush all of it")
    if wanted in _OF_FILES and target.location is None:
        raise InvalidArgument(f"{wanted} are kept by file: name a table, or flush all of it")
    chosen = [c for c in every.values() if wanted in (ALL, c.name) and (c.name not in _OF_FILES or target.location)]
    return sum(c.invalidate_if(_OF_TARGETS[c.name](target)) for c in chosen if c.name in _OF_TARGETS)


def is_kept_by_file(name: str) -> bool:
    """Whether a cache has entries for files of a table, so that the table's location is needed."""
    return name.lower() in (ALL, *_OF_FILES)


Predicate = Callable[[Any], bool]


def _of_object(target: Target) -> Predicate:
    return lambda key: target.covers(key.mount, key.namespace, getattr(key, "name", None))


def _of_file(target: Target) -> Predicate:
    below = f"{str(target.location).rstrip('/')}/"
    return lambda key: below in key[1]


_OF_FILES = ("manifests", "footers")
_OF_TARGETS: dict[str, Callable[[Target], Predicate]] = {
    "listings": _of_object,
    "table_metadata": _of_object,
    "session_catalogs": _of_object,
    "clients": lambda target: lambda key: key.mount == target.mount,
    **dict.fromkeys(_OF_FILES, _of_file),
}
