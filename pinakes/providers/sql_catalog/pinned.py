"""A SQL catalog within a transaction of the engine: all its rows as of one moment, with the transaction's own changes,
which are written to the database at the end, all at once.

`PinnedStore` is an ordinary CatalogStore, so the catalog over it has the same rules. `publish` compares each changed
row with the database: a row that was changed by others meanwhile is a conflict.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeVar

from pyiceberg.exceptions import CommitFailedException
from pyiceberg.table import Table
from pyiceberg.table.update import AssertCreate

from pinakes.core.catalog import TableChange
from pinakes.providers.iceberg.own_io import TableFiles
from pinakes.providers.sql_catalog.catalog import SqlCatalog
from pinakes.providers.sql_catalog.metadata_files import discard
from pinakes.providers.sql_catalog.namespaces import joined
from pinakes.providers.sql_catalog.store import Kind, ObjectKey, ObjectRow, PinnableStore, RowExists, StoreRows

if TYPE_CHECKING:
    from pyiceberg.io import FileIO
    from pyiceberg.table.metadata import TableMetadata
    from pyiceberg.typedef import Identifier

T = TypeVar("T")

logger = logging.getLogger(__name__)

PENDING = "pending:"
"""The prefix of the metadata location of a table that the transaction created and did not commit yet."""


@dataclass
class _State:
    """The rows: `before` as read from the database, `now` with the transaction's changes."""

    before: StoreRows
    now: StoreRows
    names: dict[tuple[str, str], list[str]] | None = None
    """Derived from `now`: the names of each kind in each namespace, sorted."""
    namespaces: set[str] = field(default_factory=set)
    """Derived from `now`: the namespaces of rows, and their parents."""

    def index(self) -> None:
        self.names, self.namespaces = {}, set()
        for row in self.now.objects.values():
            self.names.setdefault((row.kind, row.key.namespace), []).append(row.key.name)
        for names in self.names.values():
            names.sort()
        for stored in set(self.now.namespaces()) - {""}:
            levels = stored.split(".")
            self.namespaces.update(".".join(levels[:depth]) for depth in range(1, len(levels) + 1))


class PinnedStore:
    """A store with pending changes. Rows are read on first use. Thread-safe."""

    def __init__(self, store: PinnableStore) -> None:
        self._store = store
        self._lock = threading.RLock()
        self._state: _State | None = None
        self.written: list[str] = []
        """Metadata files of views; those of tables are written when the transaction ends."""

    @property
    def catalog_name(self) -> str:
        return self._store.catalog_name

    @property
    def holds_views(self) -> bool:
        return self._store.holds_views

    def initialize(self) -> None:
        """Does nothing: the store itself is initialised already."""

    def upgrade(self) -> None:
        self._store.upgrade()

    def close(self) -> None:
        """Does nothing: the store outlives the transaction."""

    def run_in_transaction(self, body: Callable[[], T]) -> T:
        with self._lock:
            kept = self._rows.copy()
            try:
                return body()
            except BaseException:
                self._open.now, self._open.names = kept, None
                raise

    @property
    def now(self) -> StoreRows:
        return self._rows

    @property
    def is_changed(self) -> bool:
        return self._state is not None and self._state.now != self._state.before

    def release(self) -> None:
        """Re-reads the store after a change made outside the transaction. Called only while there are no
        changes here.
        """
        with self._lock:
            self._state = None

    @property
    def _open(self) -> _State:
        with self._lock:
            if self._state is None:
                found = self._store.read_rows()
                self._state = _State(found, found.copy())
            return self._state

    @property
    def _rows(self) -> StoreRows:
        return self._open.now

    def _changed(self) -> StoreRows:
        """Returns the rows to change, and drops the index."""
        state = self._open
        state.names = None
        return state.now

    def _indexed(self) -> _State:
        state = self._open
        if state.names is None:
            state.index()
        return state

    # --- tables and views ----------------------------------------------------------------------------------------

    def insert(self, kind: Kind, key: ObjectKey, metadata_location: str) -> None:
        self._store.check_object(kind, key)
        with self._lock:
            if key in self._rows.objects:
                raise RowExists(f"the key is taken: {key.namespace}.{key.name}")
            self._changed().objects[key] = ObjectRow(key, kind, metadata_location, None)
            self._note(kind, metadata_location)

    def get(self, kind: Kind, key: ObjectKey) -> ObjectRow | None:
        found = self._rows.objects.get(key)
        return found if found is not None and found.kind == kind else None

    def list_names(self, kind: Kind, namespace: str) -> list[str]:
        with self._lock:
            names = self._indexed().names
            assert names is not None
            return list(names.get((kind, namespace), ()))

    def list_everything(self) -> list[tuple[ObjectKey, Kind]]:
        with self._lock:
            rows = sorted(self._rows.objects.values(), key=lambda row: (row.key.namespace, row.key.name))
            return [(row.key, row.kind) for row in rows if row.kind in ("TABLE", "VIEW")]

    def rename(self, kind: Kind, source: ObjectKey, target: ObjectKey) -> int:
        self._store.check_object(kind, target)
        with self._lock:
            found = self.get(kind, source)
            if found is None:
                return 0
            if target in self._rows.objects:
                raise RowExists(f"the key is taken: {target.namespace}.{target.name}")
            rows = self._changed().objects
            del rows[source]
            rows[target] = replace(found, key=target)
            return 1

    def drop(self, kind: Kind, key: ObjectKey) -> int:
        with self._lock:
            if self.get(kind, key) is None:
                return 0
            del self._changed().objects[key]
            return 1

    def swap_metadata_location(self, kind: Kind, key: ObjectKey, expected: str, new: str) -> int:
        with self._lock:
            found = self.get(kind, key)
            if found is None or found.metadata_location != expected:
                return 0
            self._changed().objects[key] = ObjectRow(key, kind, new, expected)
            self._note(kind, new)
            return 1

    def _note(self, kind: Kind, metadata_location: str) -> None:
        if kind == "VIEW":
            self.written.append(metadata_location)

    # --- namespaces ----------------------------------------------------------------------------------------------

    def namespace_exists(self, namespace: str) -> bool:
        with self._lock:
            return namespace in self._indexed().namespaces

    def list_namespaces(self, under: str = "") -> list[str]:
        with self._lock:
            found = {stored for stored in self._rows.namespaces() if stored}
        return sorted(stored for stored in found if not under or _is_below(stored, under))

    def get_namespace_properties(self, namespace: str) -> dict[str, str]:
        with self._lock:
            return {key: value for (of, key), value in sorted(self._rows.properties.items()) if of == namespace}

    def insert_namespace_property(self, namespace: str, key: str, value: str) -> None:
        self._store.check_property(namespace, key, value)
        with self._lock:
            if (namespace, key) in self._rows.properties:
                raise RowExists(f"the property {key} of {namespace} is there")
            self._changed().properties[namespace, key] = value

    def set_namespace_properties(self, namespace: str, properties: Mapping[str, str]) -> None:
        for key, value in properties.items():
            self._store.check_property(namespace, key, value)
        with self._lock:
            self._changed().properties.update({(namespace, key): value for key, value in properties.items()})

    def remove_namespace_properties(self, namespace: str, keys: Collection[str] | None = None) -> int:
        with self._lock:
            held = [(of, key) for of, key in self._rows.properties if of == namespace and (keys is None or key in keys)]
            for at in held:
                del self._changed().properties[at]
            return len(held)

    # --- commit --------------------------------------------------------------------------------------------------

    def follow(self, key: ObjectKey) -> None:
        """Takes over the current row of a table from the database, if the transaction has changed neither its name nor
        its row: the requirements of the metadata changes decide whether these still apply.
        """
        with self._lock:
            state, found = self._open, self._store.get("TABLE", key)
            if (
                found is not None
                and key in state.before.objects
                and state.now.objects.get(key) == state.before.objects[key]
            ):
                state.before.objects[key] = state.now.objects[key] = found

    def publish(self) -> None:
        """Writes the changes to the database, all or nothing."""
        with self._lock:
            state = self._open
            self._store.run_in_transaction(lambda: self._apply(state.before, state.now))

    def _apply(self, before: StoreRows, now: StoreRows) -> None:
        for key, row in before.objects.items():
            new = now.objects.get(key)
            if new is None or new.kind != row.kind:
                self._check(row)
                self._store.drop(row.kind, key)
        for key, row in now.objects.items():
            old = before.objects.get(key)
            assert row.metadata_location is not None or old is not None
            if old is None or old.kind != row.kind:
                self._insert(row, before)
            elif old.metadata_location != row.metadata_location:
                expected, new_location = old.metadata_location or "", row.metadata_location or ""
                if not self._store.swap_metadata_location(row.kind, key, expected, new_location):
                    raise _conflict(f"{row.kind.lower()} {key.namespace}.{key.name}")
        self._apply_properties(before, now)
        for namespace in {ns for ns, _ in before.properties} - set(now.namespaces()):
            if self._store.namespace_exists(namespace):
                raise _conflict(f"namespace {namespace}, which is not empty any more")

    def _check(self, row: ObjectRow) -> None:
        found = self._store.get(row.kind, row.key)
        if found is None or found.metadata_location != row.metadata_location:
            raise _conflict(f"{row.kind.lower()} {row.key.namespace}.{row.key.name}")

    def _insert(self, row: ObjectRow, before: StoreRows) -> None:
        key = row.key
        was_there = not key.namespace or any(
            stored == key.namespace or _is_below(stored, key.namespace) for stored in before.namespaces()
        )
        if was_there and key.namespace and not self._store.namespace_exists(key.namespace):
            raise _conflict(f"namespace {key.namespace}, which was removed")
        try:
            self._store.insert(row.kind, key, row.metadata_location or "")
        except RowExists as error:
            raise _conflict(f"the name {key.namespace}.{key.name}, which is taken") from error

    def _apply_properties(self, before: StoreRows, now: StoreRows) -> None:
        changed = {
            at for at in {*before.properties, *now.properties} if before.properties.get(at) != now.properties.get(at)
        }
        for namespace in sorted({namespace for namespace, _ in changed}):
            stored = self._store.get_namespace_properties(namespace)
            keys = {key for of, key in changed if of == namespace}
            if any(stored.get(key) != before.properties.get((namespace, key)) for key in keys):
                raise _conflict(f"namespace {namespace}")
            gone = {key for key in keys if (namespace, key) not in now.properties}
            if gone:
                self._store.remove_namespace_properties(namespace, gone)
            kept = {key: now.properties[namespace, key] for key in keys - gone}
            if kept:
                self._store.set_namespace_properties(namespace, kept)


def _is_below(namespace: str, other: str) -> bool:
    return namespace.startswith(f"{other}.")


def _conflict(what: str) -> CommitFailedException:
    return CommitFailedException(f"somebody else has changed this meanwhile: {what}")


class PinnedSqlCatalog(SqlCatalog):
    """A SqlCatalog over a `PinnedStore`: `commit_tables` publishes all changes."""

    def __init__(self, store: PinnedStore, **properties: str) -> None:
        super().__init__(store, **properties)
        self._pinned = store
        self._made: dict[str, TableMetadata] = {}
        """The tables that the transaction created, in their initial state."""
        self._purged: list[tuple[TableFiles, FileIO]] = []

    def reserve(self, identifier: Identifier, metadata: TableMetadata) -> None:
        """Reserves the name of a table that the transaction created, also for its own statements."""
        location = f"{PENDING}{metadata.table_uuid}"
        self._rows.insert("TABLE", identifier, location)
        self._made[location] = metadata

    def _read_table(self, identifier: Identifier, metadata_location: str) -> Table:
        made = self._made.get(metadata_location)
        if made is None:
            return super()._read_table(identifier, metadata_location)
        return Table(identifier, made, metadata_location, self._load_file_io(made.properties, made.location), self)

    def purge_table(self, identifier: str | Identifier) -> None:
        """Drops a table; its files are deleted when the transaction is committed."""
        table = self.load_table(identifier)
        files = TableFiles.of(table)
        self.drop_table(identifier)
        self._purged.append((files, table.io))

    def commit_tables(self, changes: Sequence[TableChange]) -> None:
        for change in changes:
            *namespace, name = change.table.name()
            key = ObjectKey(joined(tuple(namespace)), name)
            if any(isinstance(requirement, AssertCreate) for requirement in change.requirements):
                self._pinned.drop("TABLE", key)
            else:
                self._pinned.follow(key)
        super().commit_tables(changes)
        used = {row.metadata_location for row in self._pinned.now.objects.values()} if self._pinned.written else set()
        try:
            for files, io in self._purged:
                files.delete(io)
            self._discard(used)
        except Exception:  # any error: the commit has happened
            logger.warning("files that are not needed any more could not be removed", exc_info=True)

    def rollback(self) -> None:
        self._discard(set())

    def _publish(self, point: Callable[[], None]) -> None:
        self._pinned.run_in_transaction(point)
        self._pinned.publish()

    def _discard(self, used: set[str | None]) -> None:
        """Deletes metadata files of views that no row refers to."""
        for location in self._pinned.written:
            if location not in used:
                discard(self._load_file_io(location=location), location)
        self._pinned.written.clear()
