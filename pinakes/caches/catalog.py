"""A catalog that remembers, around any catalog: reads go through the caches, changes through to the inner one.

`remembering(inner, …)` gives a catalog with exactly those groups of `core/catalog.py` that the inner one has
(`catalog_groups.py`, `core/delegating_catalog.py`). Commits that go through a table's own handle are not seen there:
whoever commits calls `forget_table` afterwards.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

from pinakes.caches.caching import CachingCatalog
from pinakes.caches.catalog_groups import GROUPS
from pinakes.caches.registry import Caches
from pinakes.core.catalog import Catalog
from pinakes.core.delegating_catalog import Forwarding, class_around
from pinakes.core.names import Namespace

P = ParamSpec("P")
T = TypeVar("T")


def remembering(inner: Catalog, caches: Caches[Any], *, mount: str, user: str = "", origin: str = "") -> CachingCatalog:
    """A catalog that remembers, with the groups of `inner`.

    `mount` must differ for each mounting, also of the same name; `user` is the fingerprint of the token in use;
    `origin` is the same for all mounts of one catalog.
    """
    return class_around(inner, CachingCatalog, GROUPS)(inner, caches, mount, user, origin or mount)


def remembered(method: Callable[P, T], *arguments: P.args, **named: P.kwargs) -> T | None:
    """What a method of a catalog would answer without asking anybody; None when that is not known.

    A table is to be read only: its handle is everybody's.
    """
    owner = getattr(method, "__self__", None)
    if not isinstance(owner, CachingCatalog) or named:
        return None
    found: T | None = owner.peek(method.__name__, *arguments)
    return found


def remembered_tables(catalog: Catalog) -> set[tuple[Namespace, str]]:
    """Those of a catalog that `remembered` may know; to ask for each of very many takes long."""
    return catalog.peek_loaded() if isinstance(catalog, CachingCatalog) else set()


def forget_catalog(catalog: Catalog) -> None:
    """What follows must be as the catalog has it now."""
    caching = _caching(catalog)
    if caching is not None:
        caching.forget()


def forget_table(catalog: Catalog, namespace: Namespace, name: str) -> None:
    """A table was changed or is suspected to have been: nobody reads it from a cache again."""
    caching = _caching(catalog)
    if caching is not None:
        caching.invalidate_table(namespace, name)


def _caching(catalog: Catalog) -> CachingCatalog | None:
    """The one that remembers: a transaction may be laid over it."""
    found: Any = catalog
    while isinstance(found, Forwarding) and not isinstance(found, CachingCatalog):
        found = found.inner
    return found if isinstance(found, CachingCatalog) else None
