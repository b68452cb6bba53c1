"""A toy store in memory: the store contract, without a database. It shows how little a store needs."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeVar

from pinakes.core.errors import NotSupportedError
from pinakes.providers.sql_catalog.store import Kind, ObjectKey, ObjectRow, RowExists

T = TypeVar("T")


@dataclass
class MemoryDatabase:
    """What several stores share: rows by (catalog name, key), properties by (catalog name, namespace, key)."""

    has_types: bool = True
    rows: dict[tuple[str, ObjectKey], ObjectRow] = field(default_factory=dict)
    properties: dict[tuple[str, str, str], str] = field(default_factory=dict)
    lock: threading.RLock = field(default_factory=threading.RLock)
    depth: int = 0


class MemoryStore:
    def __init__(self, database: MemoryDatabase, catalog_name: str) -> None:
        self._db = database
        self._name = catalog_name

    @property
    def catalog_name(self) -> str:
        return self._name

    @property
    def holds_views(self) -> bool:
        return self._db.has_types

    def initialize(self) -> None:
        """There is nothing to create."""

    def upgrade(self) -> None:
        self._db.has_types = True

    def close(self) -> None:
        """There is nothing to release."""

    def run_in_transaction(self, body: Callable[[], T]) -> T:
        with self._db.lock:
            before = (dict(self._db.rows), dict(self._db.properties))
            outermost = self._db.depth == 0
            self._db.depth += 1
            try:
                return body()
            except BaseException:
                if outermost:
                    self._db.rows, self._db.properties = before
                raise
            finally:
                self._db.depth -= 1

    def insert(self, kind: Kind, key: ObjectKey, metadata_location: str) -> None:
        with self._db.lock:
            if kind == "VIEW" and not self._db.has_types:
                raise NotSupportedError("this database has no views; upgrade it")
            if (self._name, key) in self._db.rows:
                raise RowExists(f"{key} is taken")
            self._db.rows[self._name, key] = ObjectRow(key, kind, metadata_location, None)

    def get(self, kind: Kind, key: ObjectKey) -> ObjectRow | None:
        row = self._db.rows.get((self._name, key))
        return row if row is not None and row.kind == kind else None

    def list_names(self, kind: Kind, namespace: str) -> list[str]:
        return [key.name for key, found in self.list_everything() if key.namespace == namespace and found == kind]

    def list_everything(self) -> list[tuple[ObjectKey, Kind]]:
        with self._db.lock:
            own = [(key, row.kind) for (name, key), row in self._db.rows.items() if name == self._name]
        return sorted(own, key=lambda item: (item[0].namespace, item[0].name))

    def rename(self, kind: Kind, source: ObjectKey, target: ObjectKey) -> int:
        with self._db.lock:
            row = self.get(kind, source)
            if row is None:
                return 0
            if (self._name, target) in self._db.rows:
                raise RowExists(f"{target} is taken")
            del self._db.rows[self._name, source]
            self._db.rows[self._name, target] = replace(row, key=target)
            return 1

    def drop(self, kind: Kind, key: ObjectKey) -> int:
        with self._db.lock:
            return 0 if self.get(kind, key) is None else len([self._db.rows.pop((self._name, key))])

    def swap_metadata_location(self, kind: Kind, key: ObjectKey, expected: str, new: str) -> int:
        with self._db.lock:
            row = self.get(kind, key)
            if row is None or row.metadata_location != expected:
                return 0
            self._db.rows[self._name, key] = ObjectRow(key, kind, new, expected)
            return 1

    def namespace_exists(self, namespace: str) -> bool:
        return any(stored == namespace or stored.startswith(f"{namespace}.") for stored in self._namespaces())

    def list_namespaces(self, under: str = "") -> list[str]:
        return sorted(
            stored for stored in self._namespaces() if stored and (not under or stored.startswith(f"{under}."))
        )

    def get_namespace_properties(self, namespace: str) -> dict[str, str]:
        with self._db.lock:
            items = self._db.properties.items()
            return {key: value for (name, ns, key), value in items if (name, ns) == (self._name, namespace)}

    def insert_namespace_property(self, namespace: str, key: str, value: str) -> None:
        with self._db.lock:
            if (self._name, namespace, key) in self._db.properties:
                raise RowExists(f"{key} is taken")
            self._db.properties[self._name, namespace, key] = value

    def set_namespace_properties(self, namespace: str, properties: Mapping[str, str]) -> None:
        with self._db.lock:
            for key, value in properties.items():
                self._db.properties[self._name, namespace, key] = value

    def remove_namespace_properties(self, namespace: str, keys: Collection[str] | None = None) -> int:
        with self._db.lock:
            gone = [key for key in self.get_namespace_properties(namespace) if keys is None or key in keys]
            for key in gone:
                del self._db.properties[self._name, namespace, key]
            return len(gone)

    def _namespaces(self) -> set[str]:
        with self._db.lock:
            in_rows = {key.namespace for name, key in self._db.rows if name == self._name}
            return in_rows | {namespace for name, namespace, _ in self._db.properties if name == self._name}
