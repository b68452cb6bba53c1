"""A catalog in memory that counts what it is asked, and fails or hangs where a test wants it to."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from pyiceberg.io.pyarrow import PyArrowFileIO
from pyiceberg.partitioning import UNPARTITIONED_PARTITION_SPEC
from pyiceberg.schema import Schema
from pyiceberg.table import Table as PyIcebergTable
from pyiceberg.table.metadata import new_table_metadata
from pyiceberg.table.sorting import UNSORTED_SORT_ORDER
from pyiceberg.types import LongType, NestedField, StringType

from pinakes.caches.caching_catalog import cache_catalog
from pinakes.core.catalog import Catalog, IcebergTable, ViewDefinition
from pinakes.core.errors import NamespaceNotFound, TableNotFound, ViewNotFound
from pinakes.core.identity import Identity
from pinakes.core.names import Namespace
from pinakes.engine.catalogs.registry import Mount
from pinakes.engine.engine import Engine
from tests.engine.support import an_engine

SCHEMA = Schema(NestedField(1, "id", LongType(), required=True), NestedField(2, "name", StringType(), doc="its name"))
Tree = dict[Namespace, tuple[list[str], list[str]]]
"""The tables and the views of each namespace."""


class CountingCatalog:
    type = "counting"

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.calls: list[tuple[str, Namespace, str]] = []
        self.trouble: dict[tuple[str, Namespace, str], Callable[[], None]] = {}
        self.most_at_once = 0
        self._running = 0
        self._lock = threading.Lock()

    @property
    def counts(self) -> Counter[str]:
        return Counter(operation for operation, _, _ in self.calls)

    def check(self) -> None:
        self._call("check")

    def close(self) -> None:
        """There is nothing to release."""

    def list_namespaces(self, parent: Namespace = ()) -> list[Namespace]:
        with self._asked("list_namespaces", parent):
            depth = len(parent) + 1
            return sorted({n[:depth] for n in self.tree if len(n) >= depth and n[: len(parent)] == parent})

    def namespace_exists(self, namespace: Namespace) -> bool:
        with self._asked("namespace_exists", namespace):
            return any(n[: len(namespace)] == namespace for n in self.tree)

    def load_namespace(self, namespace: Namespace) -> dict[str, str]:
        with self._asked("load_namespace", namespace):
            return {"owner": "nobody", "comment": f"about {'.'.join(namespace)}"}

    def list_tables(self, namespace: Namespace) -> list[str]:
        with self._asked("list_tables", namespace):
            return list(self._held(namespace)[0])

    def list_views(self, namespace: Namespace) -> list[str]:
        with self._asked("list_views", namespace):
            return list(self._held(namespace)[1])

    def load_table(self, namespace: Namespace, name: str) -> IcebergTable:
        with self._asked("load_table", namespace, name):
            if name not in self._held(namespace)[0]:
                raise TableNotFound(f"no table {name}")
            return IcebergTable(namespace, name, _handle(namespace, name))

    def load_view(self, namespace: Namespace, name: str) -> ViewDefinition:
        with self._asked("load_view", namespace, name):
            if name not in self._held(namespace)[1]:
                raise ViewNotFound(f"no view {name}")
            return ViewDefinition("SELECT 1 AS id", None, (), Schema(NestedField(1, "id", LongType())))

    def create_view(self, namespace: Namespace, name: str, view: ViewDefinition, *, replace: bool = False) -> None:
        raise NotImplementedError

    def drop_view(self, namespace: Namespace, name: str) -> None:
        raise NotImplementedError

    def rename_view(self, source: tuple[Namespace, str], target: tuple[Namespace, str]) -> None:
        raise NotImplementedError

    def _held(self, namespace: Namespace) -> tuple[list[str], list[str]]:
        if namespace not in self.tree:
            raise NamespaceNotFound(f"no namespace {namespace}")
        return self.tree[namespace]

    def _call(self, operation: str, namespace: Namespace = (), name: str = "") -> None:
        self.calls.append((operation, namespace, name))
        self.trouble.get((operation, namespace, name), lambda: None)()

    @contextmanager
    def _asked(self, operation: str, namespace: Namespace, name: str = "") -> Iterator[None]:
        with self._lock:
            self._running += 1
            self.most_at_once = max(self.most_at_once, self._running)
        try:
            self._call(operation, namespace, name)
            yield
        finally:
            with self._lock:
                self._running -= 1


class BulkCatalog(CountingCatalog):
    """The same, that names everything in one call."""

    def list_everything(self) -> list[tuple[Namespace, str, str]]:
        with self._asked("list_everything", ()):
            return [
                (namespace, name, kind)
                for namespace, (tables, views) in self.tree.items()
                for kind, names in (("TABLE", tables), ("VIEW", views))
                for name in names
            ]

    def list_all_namespaces(self) -> list[Namespace]:
        with self._asked("list_all_namespaces", ()):
            return sorted(self.tree)


def _handle(namespace: Namespace, name: str) -> PyIcebergTable:
    metadata = new_table_metadata(
        SCHEMA, UNPARTITIONED_PARTITION_SPEC, UNSORTED_SORT_ORDER, "file:///nowhere", {"comment": f"about {name}"}
    )
    nobody: Any = None
    return PyIcebergTable((*namespace, name), metadata, "file:///nowhere/v1.json", PyArrowFileIO(), nobody)


def mount(engine: Engine, name: str, catalog: Any) -> None:
    """Mount it for everybody, with the caches around it."""
    mount_id = engine.next_mount_id()

    def open(identity: Identity) -> Catalog:
        return cache_catalog(catalog, engine.caches, mount=mount_id, user=identity.fingerprint)

    engine.registry.mount(Mount(name, "counting", "attach", "", open, pass_token=True))


@contextmanager
def engine_with(**catalogs: Any) -> Iterator[Engine]:
    """An engine with these catalogs beside its own."""
    with an_engine() as engine:
        for name, catalog in catalogs.items():
            mount(engine, name, catalog)
        yield engine
