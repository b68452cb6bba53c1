"""A CatalogStore over one JSON file. Processes take turns by a lock file; a change writes the file anew, in one step.

It is meant to be read: fine for a few hundred tables, and for nobody who commits every second.
"""

from __future__ import annotations

import fcntl
import json
import os
import threading
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

from pinakes.core.errors import CatalogUnavailable, DataCorrupt, NotSupportedError
from pinakes.providers.sql_catalog.store import Kind, ObjectKey, ObjectRow, RowExists

T = TypeVar("T")


@dataclass
class Rows:
    """What the file holds. Several catalogs may share it: every row has the name of its catalog."""

    views: bool = True
    objects: dict[tuple[str, ObjectKey], ObjectRow] = field(default_factory=dict)
    properties: dict[tuple[str, str, str], str] = field(default_factory=dict)


class JsonStore:
    def __init__(self, path: Path, catalog_name: str) -> None:
        self._path = path
        self._name = catalog_name
        self._threads = threading.RLock()
        self._draft: Rows | None = None
        """What the transaction under way has made of the rows; only its thread, which has the lock, sees it."""

    @property
    def catalog_name(self) -> str:
        return self._name

    @property
    def holds_views(self) -> bool:
        return self._rows().views

    def initialize(self) -> None:
        with self._changing():
            pass  # writes the file, if there is none, as it is otherwise

    def upgrade(self) -> None:
        with self._changing() as rows:
            rows.views = True

    def close(self) -> None:
        """Nothing is held open between two calls."""

    def run_in_transaction(self, body: Callable[[], T]) -> T:
        with self._changing():
            return body()

    # --- tables and views ----------------------------------------------------------------------------------------

    def insert(self, kind: Kind, key: ObjectKey, metadata_location: str) -> None:
        with self._changing() as rows:
            if kind == "VIEW" and not rows.views:
                raise NotSupportedError(f"{self._path} has no views: upgrade it first")
            self._check_free(rows, key)
            rows.objects[self._name, key] = ObjectRow(key, kind, metadata_location, None)

    def get(self, kind: Kind, key: ObjectKey) -> ObjectRow | None:
        row = self._rows().objects.get((self._name, key))
        return row if row is not None and row.kind == kind else None

    def list_names(self, kind: Kind, namespace: str) -> list[str]:
        return [key.name for key, found in self.list_everything() if key.namespace == namespace and found == kind]

    def list_everything(self) -> list[tuple[ObjectKey, Kind]]:
        own = [(key, row.kind) for (name, key), row in self._rows().objects.items() if name == self._name]
        return sorted(own, key=lambda item: (item[0].namespace, item[0].name))

    def rename(self, kind: Kind, source: ObjectKey, target: ObjectKey) -> int:
        with self._changing() as rows:
            row = self.get(kind, source)
            if row is None:
                return 0
            self._check_free(rows, target)
            del rows.objects[self._name, source]
            rows.objects[self._name, target] = replace(row, key=target)
            return 1

    def drop(self, kind: Kind, key: ObjectKey) -> int:
        with self._changing() as rows:
            if self.get(kind, key) is None:
                return 0
            del rows.objects[self._name, key]
            return 1

    def swap_metadata_location(self, kind: Kind, key: ObjectKey, expected: str, new: str) -> int:
        with self._changing() as rows:
            row = self.get(kind, key)
            if row is None or row.metadata_location != expected:
                return 0
            rows.objects[self._name, key] = ObjectRow(key, kind, new, expected)
            return 1

    # --- namespaces ----------------------------------------------------------------------------------------------

    def namespace_exists(self, namespace: str) -> bool:
        return any(stored == namespace or stored.startswith(f"{namespace}.") for stored in self._namespaces())

    def list_namespaces(self, under: str = "") -> list[str]:
        found = (stored for stored in self._namespaces() if stored)
        return sorted(stored for stored in found if not under or stored.startswith(f"{under}."))

    def get_namespace_properties(self, namespace: str) -> dict[str, str]:
        own = self._rows().properties.items()
        return {key: value for (name, ns, key), value in own if (name, ns) == (self._name, namespace)}

    def insert_namespace_property(self, namespace: str, key: str, value: str) -> None:
        with self._changing() as rows:
            if (self._name, namespace, key) in rows.properties:
                raise RowExists(f"the property {key} of {namespace} is there already")
            rows.properties[self._name, namespace, key] = value

    def set_namespace_properties(self, namespace: str, properties: Mapping[str, str]) -> None:
        with self._changing() as rows:
            rows.properties |= {(self._name, namespace, key): value for key, value in properties.items()}

    def remove_namespace_properties(self, namespace: str, keys: Collection[str] | None = None) -> int:
        with self._changing() as rows:
            gone = [key for key in self.get_namespace_properties(namespace) if keys is None or key in keys]
            for key in gone:
                del rows.properties[self._name, namespace, key]
            return len(gone)

    # --- how -----------------------------------------------------------------------------------------------------

    def _check_free(self, rows: Rows, key: ObjectKey) -> None:
        if (self._name, key) in rows.objects:
            raise RowExists(f"{key.namespace}.{key.name} is there already")

    def _namespaces(self) -> set[str]:
        rows = self._rows()
        in_objects = {key.namespace for name, key in rows.objects if name == self._name}
        return in_objects | {namespace for name, namespace, _ in rows.properties if name == self._name}

    def _rows(self) -> Rows:
        with self._threads:
            return self._draft if self._draft is not None else self._load()

    @contextmanager
    def _changing(self) -> Iterator[Rows]:
        """The rows, to be changed: all is written at the end, or nothing after an error. Within another, it joins."""
        with self._threads:
            if self._draft is not None:
                yield self._draft
                return
            with self._alone():
                self._draft = self._load()
                try:
                    yield self._draft
                    self._save(self._draft)
                finally:
                    self._draft = None

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """No other process changes the file meanwhile. The lock is a file of its own, since the other is replaced."""
        try:
            lock = self._path.with_name(f"{self._path.name}.lock").open("w")
        except OSError as error:
            raise CatalogUnavailable(f"{self._path} can't be locked: {error.strerror}") from error
        with lock:
            fcntl.flock(lock, fcntl.LOCK_EX)  # let go of when the file is closed
            yield

    def _load(self) -> Rows:
        try:
            return _decoded(json.loads(self._path.read_text(encoding="utf-8")))
        except FileNotFoundError:
            return Rows()
        except OSError as error:
            raise CatalogUnavailable(f"{self._path} can't be read: {error.strerror}") from error
        except (ValueError, KeyError, TypeError) as error:
            raise DataCorrupt(f"{self._path} is no file of this catalog: {error}") from error

    def _save(self, rows: Rows) -> None:
        temporary = self._path.with_name(f".{self._path.name}.{os.getpid()}.tmp")
        try:
            with temporary.open("w", encoding="utf-8") as stream:
                json.dump(_encoded(rows), stream, indent=1)
                stream.flush()
                os.fsync(stream.fileno())
            temporary.replace(self._path)
        except OSError as error:
            raise CatalogUnavailable(f"{self._path} can't be written: {error.strerror}") from error


def _encoded(rows: Rows) -> dict[str, Any]:
    objects = [
        [name, key.namespace, key.name, row.kind, row.metadata_location, row.previous_metadata_location]
        for (name, key), row in rows.objects.items()
    ]
    return {
        "views": rows.views,
        "objects": objects,
        "properties": [[*k, value] for k, value in rows.properties.items()],
    }


def _decoded(stored: dict[str, Any]) -> Rows:
    objects = {}
    for name, namespace, object_name, kind, location, previous in stored["objects"]:
        key = ObjectKey(namespace, object_name)
        objects[name, key] = ObjectRow(key, kind or "TABLE", location, previous)  # no kind: an older writer's table
    properties = {(name, namespace, key): value for name, namespace, key, value in stored["properties"]}
    return Rows(bool(stored["views"]), objects, properties)
