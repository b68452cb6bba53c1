"""The rules of namespaces in a SQL catalog, based on a store only: listing them needs no Iceberg library.

A namespace exists if it was created (its property `exists`), if it has any other property, or if it contains a table, a
view or another namespace. The property `exists` is internal: it is never shown, and users can't set it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from pinakes.core.errors import InvalidArgument, NamespaceExists, NamespaceNotEmpty, NamespaceNotFound, listing
from pinakes.core.names import Namespace, dotted
from pinakes.providers.sql_catalog.store import CatalogStore, RowExists

EXISTS = "exists"


def joined(namespace: Namespace) -> str:
    """Returns a namespace as it is stored. A level that is empty or contains a dot could not be read back."""
    for level in namespace:
        if not level:
            raise InvalidArgument(f"namespace {dotted(namespace)!r} has an empty level; every level needs a name")
        if "." in level:
            raise InvalidArgument(
                f"namespace level {level!r} has a dot in it, and this catalog stores the levels joined by dots. "
                f"Choose a name without one."
            )
    return ".".join(namespace)


def split(stored: str) -> Namespace:
    """Returns the namespace of a row; Java stores tables without a namespace under the empty one."""
    return tuple(stored.split(".")) if stored else ()


@dataclass(frozen=True, slots=True)
class PropertyChanges:
    """The properties that an update removed and set, and those to remove that did not exist."""

    removed: list[str]
    updated: list[str]
    missing: list[str]


class Namespaces:
    """The namespaces of one store. Each change is one transaction."""

    def __init__(self, store: CatalogStore) -> None:
        self._store = store

    def exists(self, namespace: Namespace) -> bool:
        """Whether a namespace exists. The empty namespace, the root, always does; one that can't be stored does not."""
        if any(not level or "." in level for level in namespace):
            return False
        return not namespace or self._store.namespace_exists(joined(namespace))

    def require(self, namespace: Namespace) -> str:
        """Returns the namespace as stored; raises if it does not exist."""
        if not self.exists(namespace):
            raise NamespaceNotFound(f"namespace {dotted(namespace)} does not exist")
        return joined(namespace)

    def children(self, parent: Namespace = ()) -> list[Namespace]:
        """Returns the namespaces one level below `parent`, including those that exist only through their contents."""
        under = self.require(parent)
        depth = len(parent) + 1
        return sorted({split(stored)[:depth] for stored in self._store.list_namespaces(under)})

    def everything(self) -> list[Namespace]:
        """Returns the namespaces of all levels, including every parent."""
        every = (split(stored) for stored in self._store.list_namespaces())
        return sorted({levels[:depth] for levels in every for depth in range(1, len(levels) + 1)})

    def properties(self, namespace: Namespace) -> dict[str, str]:
        stored = self._store.get_namespace_properties(self.require(namespace))
        return {key: value for key, value in stored.items() if key != EXISTS}

    def create(self, namespace: Namespace, properties: Mapping[str, str]) -> None:
        stored = self._named(namespace, "created")
        _refuse_reserved(properties)

        def create() -> None:
            if self._store.namespace_exists(stored):
                raise NamespaceExists(f"namespace {dotted(namespace)} already exists")
            for key, value in {EXISTS: "true", **properties}.items():
                self._store.insert_namespace_property(stored, key, value)

        try:
            self._store.run_in_transaction(create)
        except RowExists as error:
            raise NamespaceExists(f"namespace {dotted(namespace)} already exists") from error

    def drop(self, namespace: Namespace) -> None:
        stored = self._named(namespace, "dropped")

        def drop() -> None:
            self.require(namespace)
            self._refuse_contents(namespace)
            self._store.remove_namespace_properties(stored)

        self._store.run_in_transaction(drop)

    def alter(self, namespace: Namespace, updates: Mapping[str, str], removals: Iterable[str]) -> PropertyChanges:
        """Sets and removes properties. The namespace is marked as existing, so that it outlives its last property."""
        stored = self._named(namespace, "altered")
        removed = set(removals)
        _refuse_reserved([*updates, *removed])
        if both := removed & set(updates):
            raise InvalidArgument(f"properties to set and to remove at once: {listing(both)}")

        def alter() -> PropertyChanges:
            self.require(namespace)
            before = self._store.get_namespace_properties(stored)
            self._store.remove_namespace_properties(stored, removed)
            self._store.set_namespace_properties(stored, {EXISTS: "true", **updates})
            return PropertyChanges(sorted(removed & set(before)), sorted(updates), sorted(removed - set(before)))

        return self._store.run_in_transaction(alter)

    def _named(self, namespace: Namespace, done: str) -> str:
        if not namespace:
            raise InvalidArgument(f"the empty namespace can't be {done}; name at least one level")
        return joined(namespace)

    def _refuse_contents(self, namespace: Namespace) -> None:
        stored = joined(namespace)
        contents: dict[str, Callable[[], list[str]]] = {
            "table": lambda: self._store.list_names("TABLE", stored),
            "view": lambda: self._store.list_names("VIEW", stored),
            "namespace": lambda: [child[-1] for child in self.children(namespace)],
        }
        found = [f"{what}s {listing(names)}" for what, list_names in contents.items() if (names := list_names())]
        if found:
            raise NamespaceNotEmpty(f"namespace {dotted(namespace)} is not empty: it holds {'; '.join(found)}")


def _refuse_reserved(keys: Iterable[str]) -> None:
    if EXISTS in keys:
        raise InvalidArgument(f"the property {EXISTS!r} is reserved: the catalog keeps it itself")
