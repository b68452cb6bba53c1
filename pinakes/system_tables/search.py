"""system.metadata.search('words') and SEARCH: tables, views and columns by name and comment, best match first.

All names that the catalogs list are searched. Columns and comments are in a table's metadata: cached metadata is
searched, and a limited number of other tables is loaded per catalog; a warning reports when there are more. Objects
that a user can't list are not searched, and those that they can't load have no columns for them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from pinakes.caches.caching_catalog import list_cached_tables
from pinakes.core.names import Namespace, spell
from pinakes.system_tables.base import NUMBER, TEXT, Column, Request, SystemTable
from pinakes.system_tables.calls import Call
from pinakes.system_tables.catalog_executor import ahead
from pinakes.system_tables.described import columns_of, comment_of
from pinakes.system_tables.listing import Entry, objects
from pinakes.system_tables.loading import Described, Loaded, answered, asked, known
from pinakes.system_tables.matching import Sought
from pinakes.system_tables.namespaces import window_of

MOST_LOADS = 1000
"""The maximum number of tables of a catalog that one search loads, in addition to cached ones."""
COLUMN_PENALTY = 5
"""Ranks a table before a column that matches equally well."""


class Match(NamedTuple):
    entry: Entry
    column: str | None
    position: int
    text: str
    score: int

    @property
    def kind(self) -> str:
        return "column" if self.column is not None else "view" if self.entry.kind == "VIEW" else "table"

    @property
    def rank(self) -> tuple[Any, ...]:
        """The sort key: best match first; system tables after other equal matches."""
        entry = self.entry
        return (-self.score, entry.kind == "SYSTEM", entry.catalog, entry.schema, entry.name, self.position)


def search_table(words: str) -> SystemTable[Match]:
    """Returns the table of one search."""
    sought = Sought(words)
    sought.check()
    return SystemTable(
        name="search",
        doc="Tables, views and columns whose names or comments have these words, the best first.",
        columns=(
            Column("catalog_name", TEXT, "Catalog of the object", lambda m: m.entry.catalog, level="catalog"),
            Column("schema_name", TEXT, "Schema that it is in", lambda m: m.entry.schema, level="schema"),
            Column("table_name", TEXT, "Table, or the table of the column", lambda m: m.entry.name, level="table"),
            Column("column_name", TEXT, "Column; NULL for a table", lambda m: m.column),
            Column("kind", TEXT, "table, view or column", lambda m: m.kind),
            Column("matched_text", TEXT, "The name or the comment that fits", lambda m: m.text),
            Column("score", NUMBER, "How well it fits: 100 for the very name", lambda m: m.score),
        ),
        items=partial(_ranked, sought),
    )


def _ranked(sought: Sought, request: Request) -> list[Match]:
    return sorted(_matches(sought, replace(request, limit=None)), key=lambda match: match.rank)


def _matches(sought: Sought, request: Request) -> Iterator[Match]:
    bounds = _Bounds(request)
    lost: set[str] = set()
    seen = (e for e in objects(request) if e.kind != "SYSTEM" or e.mount.is_system)
    for entry, call in ahead(seen, bounds.asked, window_of(request)):
        loaded = None if call is None else answered(entry, call, lost)
        yield from _of_table(sought, request, entry, loaded)
    request.context.notes.extend(bounds.unread())


class _Bounds:
    """Requests the metadata of tables within the limit; cached metadata does not count."""

    def __init__(self, request: Request) -> None:
        self._request = request
        self._loads: Counter[str] = Counter()
        self._remembered: dict[str, set[tuple[Namespace, str]]] = {}

    def asked(self, entry: Entry) -> Call[Any] | Loaded | None:
        if entry.kind == "SYSTEM" or (entry.namespace, entry.name) in self._known_of(entry):
            found = known(entry)
            if found is not None:
                return found
        self._loads[entry.catalog] += 1
        return asked(self._request, entry) if self._loads[entry.catalog] <= MOST_LOADS else None

    def unread(self) -> Iterator[str]:
        """Yields warnings about catalogs with more tables than were loaded."""
        for catalog, count in sorted(self._loads.items()):
            if count > MOST_LOADS:
                yield (
                    f"catalog '{catalog}' has more tables than one search loads: of {count - MOST_LOADS:,} only the "
                    f"names were looked at, not their columns and comments. Search in one schema of it: "
                    f"SEARCH '…' IN {spell(catalog)}.schema"
                )

    def _known_of(self, entry: Entry) -> set[tuple[Namespace, str]]:
        if entry.catalog not in self._remembered:
            self._remembered[entry.catalog] = list_cached_tables(entry.mount.catalog)
        return self._remembered[entry.catalog]


def _of_table(sought: Sought, request: Request, entry: Entry, loaded: Loaded | None) -> Iterator[Match]:
    where = f"{entry.catalog}.{entry.schema}".casefold()
    fit = sought.fit(entry.name, None if loaded is None else comment_of(loaded), where)
    if fit is not None:
        yield Match(entry, None, 0, fit.text, fit.score)
    if loaded is None:
        return
    around = f"{where}.{entry.name.casefold()}"
    for column in columns_of(Described(entry, loaded), request.context):
        fit = sought.fit(column.name, column.comment, around)
        if fit is not None:
            yield Match(entry, column.name, column.position, fit.text, fit.score - COLUMN_PENALTY)
