"""A catalog that delegates to another one and implements the same groups of `core/catalog.py`.

Its class is composed of one mix-in per group. The mix-ins here only delegate; wrappers (the caches, a transaction)
supply their own mix-ins for the groups whose behaviour they change. A new group is one more line of `_GROUPS`.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, TypeVar, cast

from pinakes.core.catalog import (
    Catalog,
    ExplainsReading,
    PinnedCatalog,
    RunningTransaction,
    SupportsAllNamespaces,
    SupportsBulkListing,
    SupportsDefaultNamespace,
    SupportsFunctions,
    SupportsNamespaceChanges,
    SupportsNamespaces,
    SupportsOwnTransactions,
    SupportsPathIdentifiers,
    SupportsPinning,
    SupportsRootTables,
    SupportsTableActions,
    SupportsTableChanges,
    SupportsTables,
    SupportsTransactions,
    SupportsVersion,
    SupportsViews,
    SupportsViewTexts,
    Table,
)
from pinakes.core.names import Namespace
from pinakes.core.worker_tables import CatalogFunction


class DelegatingCatalog:
    """The methods that every catalog has; `class_around` adds the groups."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner

    @property
    def type(self) -> str:
        return str(self.inner.type)

    def check(self) -> None:
        self.inner.check()


class Namespaces(DelegatingCatalog):
    def list_namespaces(self, parent: Namespace = ()) -> list[Namespace]:
        return list(self.inner.list_namespaces(parent))

    def namespace_exists(self, namespace: Namespace) -> bool:
        return bool(self.inner.namespace_exists(namespace))

    def load_namespace(self, namespace: Namespace) -> dict[str, str]:
        return dict(self.inner.load_namespace(namespace))


class _AllNamespaces(DelegatingCatalog):
    def list_all_namespaces(self) -> list[Namespace]:
        return list(self.inner.list_all_namespaces())


class _DefaultNamespace(DelegatingCatalog):
    @property
    def default_namespace(self) -> Namespace:
        found: Namespace = self.inner.default_namespace
        return found


class _RootTables(DelegatingCatalog):
    @property
    def has_root_tables(self) -> bool:
        return bool(self.inner.has_root_tables)


class _PathIdentifiers(DelegatingCatalog):
    def load_path(self, path: str) -> Table:
        found: Table = self.inner.load_path(path)
        return found


class _Functions(DelegatingCatalog):
    def list_functions(self, namespace: Namespace) -> list[CatalogFunction]:
        return list(self.inner.list_functions(namespace))


class _OwnTransactions(DelegatingCatalog):
    @property
    def runs_transactions(self) -> bool:
        return bool(self.inner.runs_transactions)

    def begin_transaction(self) -> RunningTransaction:
        begun: RunningTransaction = self.inner.begin_transaction()
        return begun


class _Pinning(DelegatingCatalog):
    @property
    def pins(self) -> bool:
        return bool(self.inner.pins)

    def pin(self) -> PinnedCatalog:
        pinned: PinnedCatalog = self.inner.pin()
        return pinned


class _Version(DelegatingCatalog):
    def version(self) -> int | None:
        found: int | None = self.inner.version()
        return found


class _Reading(DelegatingCatalog):
    @property
    def why_read_only(self) -> str:
        return str(self.inner.why_read_only)


_GROUPS: tuple[tuple[Any, type[DelegatingCatalog] | None], ...] = (
    (SupportsPinning, _Pinning),
    (SupportsTransactions, None),
    (SupportsTableActions, None),
    (SupportsTableChanges, None),
    (SupportsBulkListing, None),
    (SupportsRootTables, _RootTables),
    (SupportsTables, None),
    (SupportsNamespaceChanges, None),
    (SupportsAllNamespaces, _AllNamespaces),
    (SupportsNamespaces, Namespaces),
    (SupportsDefaultNamespace, _DefaultNamespace),
    (SupportsViewTexts, None),
    (SupportsViews, None),
    (SupportsFunctions, _Functions),
    (SupportsOwnTransactions, _OwnTransactions),
    (SupportsVersion, _Version),
    (SupportsPathIdentifiers, _PathIdentifiers),
    (ExplainsReading, _Reading),
)
"""Each group with the mix-in that delegates it; None where the wrapper must implement it. A group that extends another
precedes it, as required for Python's bases.
"""

W = TypeVar("W", bound=DelegatingCatalog)


def class_around(inner: Catalog, base: type[W], own: Mapping[Any, type[DelegatingCatalog] | None]) -> type[W]:
    """Builds the class of a catalog around `inner`: `base` with the mix-ins of the groups that `inner` implements.
    `own` overrides the mix-ins of some groups; None omits a group.
    """
    groups = [(group, passed) for group, passed in _GROUPS if isinstance(inner, group)]
    mixins = [own[group] if group in own or passed is None else passed for group, passed in groups]
    made: type[W] = _class_of(cast("Any", base), tuple(mixin for mixin in mixins if mixin is not None))
    return made


@cache
def _class_of(base: type[Any], mixins: tuple[type[DelegatingCatalog], ...]) -> type[Any]:
    return type(base.__name__, (*mixins, base), {"__doc__": base.__doc__})
