"""A caching wrapper for any catalog: reads go through the caches, changes go to the inner catalog.

`remembering(inner, …)` returns a catalog with exactly those groups of `core/catalog.py` that the inner one has
(`catalog_groups.py`, `core/delegating_catalog.py`). Commits through a table's own handle are not seen here: the code
that commits calls `forget_table` afterwards.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

from pinakes.caches.caching import CachingCatalog
from pinakes.caches.catalog_groups import GROUPS
from pinakes.caches.registry import Caches
from pinakes.core.catalog import Catalog
from pinakes.core.delegating_catalog import DelegatingCatalog, class_around
from pinakes.core.names import Namespace

P = ParamSpec("P")
T = TypeVar("T")


def remembering(inner: Catalog, caches: Caches[Any], *, mount: str, user: str = "", origin: str = "") -> CachingCatalog:
    """Returns a caching catalog with the groups of `inner`.

    `mount` must be unique for each mounting, also of the same name; `user` is the fingerprint of the token in use;
    `origin` is the same for all mounts of one catalog.
    """
    return class_around(inner, CachingCatalog, GROUPS)(inner, caches, mount, user, origin or mount)


def remembered(method: Callable[P, T], *arguments: P.args, **named: P.kwargs) -> T | None:
    """Returns the cached result of a catalog method without calling the catalog; None if it is not cached.

    A returned table is read-only: its handle is shared.
    """
    owner = getattr(method, "__self__", None)
    if not isinstance(owner, CachingCatalog) or named:
        return None
    found: T | None = owner.peek(method.__name__, *arguments)
    return found


def remembered_tables(catalog: Catalog) -> set[tuple[Namespace, str]]:
    """The tables of a catalog that `remembered` may return; calling it for each of very many tables is slow."""
    return catalog.peek_loaded() if isinstance(catalog, CachingCatalog) else set()


def forget_catalog(catalog: Catalog) -> None:
    """Invalidates all entries of a catalog, so that the next reads see its current state."""
    caching = _caching(catalog)
    if caching is not None:
        caching.forget()


def forget_table(catalog: Catalog, namespace: Namespace, name: str) -> None:
    """Invalidates a table that was changed or may have been."""
    caching = _caching(catalog)
    if caching is not None:
        caching.invalidate_table(namespace, name)


def _caching(catalog: Catalog) -> CachingCatalog | None:
    """Returns the caching catalog, which may be inside a transaction's overlay."""
    found: Any = catalog
    while isinstance(found, DelegatingCatalog) and not isinstance(found, CachingCatalog):
        found = found.inner
    return found if isinstance(found, CachingCatalog) else None
