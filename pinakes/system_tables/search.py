"""system.metadata.search('words') and SEARCH: tables, views and columns by name and comment, best match first.

All names that the catalogs list are searched. Columns and comments are in a table's metadata: cached metadata is
searched, and a limited number of other tables is loaded per catalog; a warning reports when there are more. Objects
that a user can't list are not searched, and those that they can't load have no columns for them.

Words are plain text, without wildcards and case-insensitive. An exact name scores highest, then a prefix, a separate
word (`order` in `line_order` and `lineOrder`), a substring, and last a comment. Each of several words must be found: in
the name, in the comment, or in the names of its parents, which alone do not suffice.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, NamedTuple

from pinakes.caches.caching_catalog import list_cached_tables
from pinakes.core.errors import InvalidArgument
from pinakes.core.names import Namespace, spell
from pinakes.system_tables.base import NUMBER, TEXT, Column, Request, SystemTable
from pinakes.system_tables.catalog_metadata.calls import Call
from pinakes.system_tables.catalog_metadata.columns import columns_of, comment_of
from pinakes.system_tables.catalog_metadata.executor import submit_ahead
from pinakes.system_tables.catalog_metadata.listing import Entry, list_objects
from pinakes.system_tables.catalog_metadata.loading import Described, Loaded, finish_loading, peek_loaded, start_loading
from pinakes.system_tables.catalog_metadata.namespaces import window_of

# --- scores ------------------------------------------------------------------------------------------------------


EXACT, PREFIX, WORD, SUBSTRING, COMMENT, AROUND = 100, 80, 60, 40, 20, 10

_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_PIECE = re.compile(r"[^\W_]+")


class Fit(NamedTuple):
    score: int
    text: str
    """The name or the comment that matches."""


@dataclass(frozen=True)
class SearchWords:
    """The search text as written."""

    written: str

    @cached_property
    def words(self) -> tuple[str, ...]:
        return tuple(self.written.casefold().split())

    @cached_property
    def whole(self) -> str:
        return " ".join(self.words)

    def check(self) -> None:
        if not self.words:
            raise InvalidArgument("there is nothing to look for; say a word or several, as in SEARCH 'customer email'")

    def fit(self, name: str, comment: str | None, around: str) -> Fit | None:
        """Returns the match, or None. `around` are the names of its parents, case-folded."""
        folded = name.casefold()
        said = comment.casefold() if comment else ""
        if not all(word in folded or word in said or word in around for word in self.words):
            return None
        whole = _score_name(self.whole, name, folded)
        if whole or len(self.words) == 1:
            return Fit(whole, name) if whole else Fit(COMMENT, comment) if comment and self.whole in said else None
        scores = [_score_name(w, name, folded) or (COMMENT if w in said else AROUND) for w in self.words]
        if max(scores) == AROUND:
            return None
        text = name if max(scores) > COMMENT or comment is None else comment
        return Fit(sum(scores) // len(scores), text)


def _score_name(sought: str, name: str, folded: str) -> int:
    """Returns the score of a name, 0 without a match. `order items` is an exact match of `order_items` and
    `orderItems`.
    """
    if not all(word in folded for word in sought.split()):
        return 0
    spoken = " ".join(_PIECE.findall(_HUMP.sub("_", name))).casefold()
    if sought in (folded, spoken):
        return EXACT
    if folded.startswith(sought) or spoken.startswith(sought):
        return PREFIX
    if f" {sought} " in f" {spoken} ":
        return WORD
    return SUBSTRING if sought in folded or sought in spoken else 0


# --- the search --------------------------------------------------------------------------------------------------


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
    sought = SearchWords(words)
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
        items=partial(_rank, sought),
    )


def _rank(sought: SearchWords, request: Request) -> list[Match]:
    return sorted(_matches(sought, replace(request, limit=None)), key=lambda match: match.rank)


def _matches(sought: SearchWords, request: Request) -> Iterator[Match]:
    bounds = _Bounds(request)
    lost: set[str] = set()
    seen = (e for e in list_objects(request) if e.kind != "SYSTEM" or e.mount.is_system)
    for entry, call in submit_ahead(seen, bounds.asked, window_of(request)):
        loaded = None if call is None else finish_loading(entry, call, lost)
        yield from _match_table(sought, request, entry, loaded)
    request.context.notes.extend(bounds.unread())


class _Bounds:
    """Requests the metadata of tables within the limit; cached metadata does not count."""

    def __init__(self, request: Request) -> None:
        self._request = request
        self._loads: Counter[str] = Counter()
        self._remembered: dict[str, set[tuple[Namespace, str]]] = {}

    def asked(self, entry: Entry) -> Call[Any] | Loaded | None:
        if entry.kind == "SYSTEM" or (entry.namespace, entry.name) in self._known_of(entry):
            found = peek_loaded(entry)
            if found is not None:
                return found
        self._loads[entry.catalog] += 1
        return start_loading(self._request, entry) if self._loads[entry.catalog] <= MOST_LOADS else None

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


def _match_table(sought: SearchWords, request: Request, entry: Entry, loaded: Loaded | None) -> Iterator[Match]:
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
