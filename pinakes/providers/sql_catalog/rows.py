"""Shared code of tables and views: one row each, one primary key, one way to commit. Errors are pyiceberg's own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from pyiceberg.exceptions import (
    CommitFailedException,
    CommitStateUnknownException,
    NamespaceAlreadyExistsError,
    NamespaceNotEmptyError,
    NoSuchNamespaceError,
    NoSuchTableError,
    NoSuchViewError,
    TableAlreadyExistsError,
    ViewAlreadyExistsError,
)

from pinakes.core.errors import (
    InvalidArgument,
    NamespaceExists,
    NamespaceNotEmpty,
    NamespaceNotFound,
)
from pinakes.core.names import dotted
from pinakes.providers.sql_catalog.metadata_files import discard
from pinakes.providers.sql_catalog.namespaces import Namespaces, joined
from pinakes.providers.sql_catalog.store import CatalogStore, Kind, ObjectKey, ObjectRow, OutcomeUnknown, RowExists

if TYPE_CHECKING:
    from pyiceberg.io import FileIO
    from pyiceberg.typedef import Identifier

_PYICEBERG = {
    NamespaceNotFound: NoSuchNamespaceError,
    NamespaceExists: NamespaceAlreadyExistsError,
    NamespaceNotEmpty: NamespaceNotEmptyError,
    InvalidArgument: ValueError,
}


@contextmanager
def pyiceberg_errors() -> Iterator[None]:
    """Translates the errors of the namespace rules to pyiceberg's, for code written against pyiceberg."""
    try:
        yield
    except tuple(_PYICEBERG) as error:
        raise _PYICEBERG[type(error)](error.message) from error


def shown(identifier: Identifier) -> str:
    return dotted(identifier)


class Rows:
    """Tables and views by identifier: a namespace's levels, then the name."""

    def __init__(self, store: CatalogStore) -> None:
        self._store = store
        self._namespaces = Namespaces(store)

    def get(self, kind: Kind, identifier: Identifier) -> tuple[ObjectRow, str]:
        """Returns the row and its metadata location."""
        row = self._store.get(kind, _key(identifier))
        if row is None or row.metadata_location is None:
            raise _missing(kind, identifier)
        return row, row.metadata_location

    def names(self, kind: Kind, namespace: Identifier) -> list[Identifier]:
        with pyiceberg_errors():
            stored = self._namespaces.require(namespace)
        return [(*namespace, name) for name in self._store.list_names(kind, stored)]

    def check_free(self, identifier: Identifier) -> None:
        """Fails before anything is written; `insert` makes the final check."""
        with pyiceberg_errors():
            self._namespaces.require(identifier[:-1])
        for kind in ("TABLE", "VIEW"):
            if self._store.get(kind, _key(identifier)) is not None:
                raise _taken(kind, identifier)

    def insert(self, kind: Kind, identifier: Identifier, metadata_location: str) -> None:
        def insert() -> None:
            self._namespaces.require(identifier[:-1])
            self._store.insert(kind, _key(identifier), metadata_location)

        try:
            with pyiceberg_errors():
                self._store.run_in_transaction(insert)
        except RowExists as error:
            raise self._taken_by(identifier) from error

    def swap(self, kind: Kind, identifier: Identifier, expected: str, new: str) -> None:
        """Commits with a compare-and-set of the metadata location."""
        if not self._store.swap_metadata_location(kind, _key(identifier), expected, new):
            raise CommitFailedException(
                f"{kind.lower()} {shown(identifier)} was changed or dropped meanwhile: "
                f"its metadata is no longer {expected}"
            )

    def overwrite(self, kind: Kind, identifier: Identifier, metadata_location: str) -> None:
        """Points an existing row, or a new one, to this metadata."""

        def overwrite() -> None:
            row = self._store.get(kind, _key(identifier))
            if row is None or row.metadata_location is None:
                self.insert(kind, identifier, metadata_location)
            else:
                self.swap(kind, identifier, row.metadata_location, metadata_location)

        self._store.run_in_transaction(overwrite)

    def rename(self, kind: Kind, source: Identifier, target: Identifier) -> None:
        def rename() -> None:
            if self._store.get(kind, _key(source)) is None:
                raise _missing(kind, source)
            self.check_free(target)
            self._store.rename(kind, _key(source), _key(target))

        try:
            self._store.run_in_transaction(rename)
        except RowExists as error:
            raise self._taken_by(target) from error

    def drop(self, kind: Kind, identifier: Identifier) -> None:
        if not self._store.drop(kind, _key(identifier)):
            raise _missing(kind, identifier)

    @contextmanager
    def landing(self, io: FileIO, metadata_location: str) -> Iterator[None]:
        """Encloses the write of the file and the commit: a commit that certainly failed leaves no metadata
        file behind.
        """
        try:
            yield
        except OutcomeUnknown as error:
            raise CommitStateUnknownException(
                f"{error.message}. The commit may have happened, as {metadata_location}; look before trying again."
            ) from error
        except Exception:
            discard(io, metadata_location)
            raise

    def _taken_by(self, identifier: Identifier) -> Exception:
        return _taken("VIEW" if self._store.get("VIEW", _key(identifier)) else "TABLE", identifier)


def _key(identifier: Identifier) -> ObjectKey:
    *namespace, name = identifier
    if not name:
        raise ValueError("a table or view needs a name; this one is empty")
    with pyiceberg_errors():
        return ObjectKey(joined(tuple(namespace)), name)


def _missing(kind: Kind, identifier: Identifier) -> Exception:
    error = NoSuchViewError if kind == "VIEW" else NoSuchTableError
    return error(f"{kind.lower()} {shown(identifier)} does not exist")


def _taken(kind: Kind, identifier: Identifier) -> Exception:
    error = ViewAlreadyExistsError if kind == "VIEW" else TableAlreadyExistsError
    return error(f"a {kind.lower()} named {shown(identifier)} already exists")
