"""Temporary relations of a session, under names of one part that no catalog has.

`Session.temporary` holds them. A name of one part refers to the temporary relation if there is one, else to the current
namespace. Longer names, and names within stored views, never refer to one. They are read-only.

A statement may have a `Lookup`, which is called last, for names that are not found otherwise (`api/variables.py` finds
Python variables with it). The kinds of `Source` are in `engine/datafusion/memory_sources.py`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

from pinakes.core.errors import InvalidArgument, TableNotFound, listing
from pinakes.core.names import Part, match, quote
from pinakes.engine.binding.relation import Key, Relation

if TYPE_CHECKING:
    import pyarrow as pa
    from datafusion import Table as Provider


class Source(Protocol):
    """Rows that a query can read."""

    @property
    def schema(self) -> pa.Schema: ...

    @property
    def provider(self) -> Provider: ...


TEMPORARY = "$temporary"
"""The catalog and namespace of temporary relations in planned text. This name cannot be mounted."""

Lookup = Callable[[str], Source | None]
"""The source behind a name that neither the session nor a catalog has."""


class SessionRelations:
    """The temporary relations of one session, by name. Readers see one consistent mapping: changes replace it."""

    def __init__(self) -> None:
        self._sources: dict[str, Source] = {}
        self._lock = threading.Lock()

    def put(self, name: str, source: Source) -> None:
        """Under this name, in place of what had it."""
        if not name:
            raise InvalidArgument("a temporary relation needs a name")
        with self._lock:
            self._sources = {**self._sources, name: source}

    def remove(self, name: str) -> None:
        with self._lock:
            if name not in self._sources:
                raise TableNotFound(f"nothing is registered as {quote(name)}; available: {listing(self._sources)}")
            self._sources = {k: v for k, v in self._sources.items() if k != name}

    @contextmanager
    def brought(self, source: Source) -> Iterator[str]:
        """A relation for a single statement, under an unused name. There are few such names, so that the statement
        cache finds the text again."""
        with self._lock:
            name = next(n for n in map("$rows_{}".format, range(1, len(self._sources) + 2)) if n not in self._sources)
            self._sources = {**self._sources, name: source}
        try:
            yield name
        finally:
            self.remove(name)

    @property
    def is_empty(self) -> bool:
        return not self._sources

    def names(self) -> list[str]:
        """Those that a user may name."""
        return sorted(name for name in self._sources if not name.startswith("$"))

    def find(self, part: Part) -> tuple[str, Source] | None:
        """The relation that a name of one part means, and its exact name."""
        sources = self._sources
        name = match(part, sources, "temporary relation") if sources else None
        return None if name is None else (name, sources[name])


def relation_of(name: str, source: Source) -> Relation:
    """The relation as a plan refers to it, under a full name that no catalog can hold."""
    return Relation(temporary_key(name), source.provider, tuple(source.schema.names))


def temporary_key(name: str) -> Key:
    return (TEMPORARY, TEMPORARY, name)
