"""Namespaces of mounted catalogs, the objects in them, and the errors for objects that do not exist.

`resolver.py` goes from names to these.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from pinakes.caches.caching_catalog import forget_table
from pinakes.core.catalog import Catalog, SupportsNamespaces, SupportsPathIdentifiers, SupportsTables, SupportsViews
from pinakes.core.errors import NamespaceNotFound, NotSupportedError, TableNotFound, ViewNotFound, listing
from pinakes.core.names import Namespace, Part, display, dotted, match
from pinakes.core.suggestions import did_you_mean
from pinakes.engine.catalogs.mounts import Mounted
from pinakes.parser.redaction import masked_address

Kind = Literal["TABLE", "VIEW", "METADATA"]
"""METADATA is what `"t$snapshots"` names: the metadata of a table, which can be read only."""


@dataclass(frozen=True, slots=True)
class Scope:
    """Where names without a catalog are looked up: the session's current place, or a view's own."""

    catalog: str
    namespace: Namespace


@dataclass(frozen=True, slots=True)
class ResolvedNamespace:
    """A namespace of a mounted catalog."""

    mount: Mounted
    namespace: Namespace

    def __str__(self) -> str:
        return dotted((self.mount.name, *self.namespace))


@dataclass(frozen=True, slots=True)
class ResolvedTable:
    """An object that exists: its exact name and what it is."""

    place: ResolvedNamespace
    name: str
    kind: Kind

    def __str__(self) -> str:
        return display(self.place.mount.name, self.place.namespace, self.name)


def match_levels(mount: Mounted, parts: Sequence[Part]) -> Namespace:
    """The exact levels of a namespace as written; quoted levels are taken as they are."""
    if not parts or [part.exact for part in parts] == [""]:  # the schema without a name, as clients spell it in full
        return ()
    catalog = mount.catalog
    if not isinstance(catalog, SupportsNamespaces):
        raise NotSupportedError(f"catalog '{mount.name}' (type {mount.type}) has no namespaces")
    levels: Namespace = ()
    for part in parts:
        level: str | None = part.text
        if not part.quoted:
            level = match(part, (n[-1] for n in children(catalog, levels)), "namespace")
        if level is None:
            raise no_namespace(mount, (*levels, part.text))
        levels = (*levels, level)
    return levels


def children(catalog: SupportsNamespaces, parent: Namespace) -> list[Namespace]:
    try:
        return catalog.list_namespaces(parent)
    except NamespaceNotFound:
        return []


def lookup(place: ResolvedNamespace, part: Part, *, fresh: bool = False) -> ResolvedTable | None:
    """The object, looked up in the cached listing. With `fresh`, or if the cached listing lacks it, the catalog is
    listed again."""
    catalog = place.mount.catalog
    for anew in (True,) if fresh else (False, True):
        if anew:
            forget_table(catalog, place.namespace, part.exact)
        kinds = objects(catalog, place)
        name = match(part, kinds, "table")
        if name is not None:
            return ResolvedTable(place, name, kinds[name])
    return None


def of_kind(found: ResolvedTable, kind: Kind | None) -> ResolvedTable:
    if kind is None or found.kind == kind:
        return found
    wrong = ViewNotFound if kind == "VIEW" else TableNotFound
    what = "metadata of a table" if found.kind == "METADATA" else f"a {found.kind.lower()}"
    raise wrong(f"{found} is {what}, not a {kind.lower()}")


def objects(catalog: Catalog, place: ResolvedNamespace) -> dict[str, Kind]:
    """Every table and view of one namespace: one listing call per kind."""
    found: dict[str, Kind] = {}
    try:
        if isinstance(catalog, SupportsTables):
            found.update(dict.fromkeys(catalog.list_tables(place.namespace), "TABLE"))
        if isinstance(catalog, SupportsViews):
            found.update(dict.fromkeys(catalog.list_views(place.namespace), "VIEW"))
    except NamespaceNotFound:
        raise no_namespace(place.mount, place.namespace) from None
    return found


def no_namespace(mount: Mounted, namespace: Namespace) -> NamespaceNotFound:
    catalog = mount.catalog
    where = dotted((mount.name, *namespace[:-1]))
    known = children(catalog, namespace[:-1]) if isinstance(catalog, SupportsNamespaces) else []
    hint = did_you_mean(namespace[-1], (n[-1] for n in known)) or (
        "" if mount.is_system else " CREATE SCHEMA makes one."
    )
    return NamespaceNotFound(
        f"namespace '{dotted(namespace)}' does not exist in catalog '{mount.name}'; "
        f"{where} has: {listing(n[-1] for n in known)}.{hint}"
    )


def no_object(
    place: ResolvedNamespace, part: Part, kind: Kind | None, own: ResolvedNamespace | None = None
) -> TableNotFound | ViewNotFound:
    """`own` is where else it might have been: among what is temporary."""
    known = _of_that_kind(place, kind)
    temporary = _of_that_kind(own, kind) if own is not None and own != place else []
    hint = did_you_mean(part.exact, known + temporary)
    also = f"; {own} has: {listing(temporary)}" if temporary else ""
    what = (kind or "table").lower()
    error = ViewNotFound if kind == "VIEW" else TableNotFound
    asked = display(place.mount.name, place.namespace, part.exact)
    return error(f"{what} {asked} does not exist; {place} has: {listing(known)}{also}.{hint}")


def _of_that_kind(place: ResolvedNamespace, kind: Kind | None) -> list[str]:
    return [n for n, k in objects(place.mount.catalog, place).items() if kind is None or k == kind]


def no_paths(mount: Mounted, path: str) -> NotSupportedError:
    path = masked_address(path)
    if isinstance(mount.catalog, SupportsPathIdentifiers):
        return NotSupportedError(f"path '{path}' can be read, and nothing else be done with it: SELECT … FROM it")
    return NotSupportedError(
        f"catalog '{mount.name}' (type {mount.type}) does not know tables by their path: '{path}'. "
        f"Name a table of it, or use a catalog that supports paths."
    )
