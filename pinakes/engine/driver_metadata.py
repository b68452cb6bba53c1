"""What drivers ask of the metadata outside of any SQL: the rows of the system tables, by the same calls.

The same catalogs are seen, by the same user, and the same conditions keep calls away from those that can't matter
(`system_tables/catalog_metadata/listing.py`). What fails is a row of system.metadata.errors, as with any system table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

import pyarrow as pa

from pinakes.engine.datafusion.error_translation import is_panic, let_go, translate
from pinakes.engine.execution.query import Query
from pinakes.engine.session import Session
from pinakes.engine.statement_context import Execution
from pinakes.engine.system.contexts import context_of
from pinakes.system_tables.base import Request
from pinakes.system_tables.catalog_metadata import listing
from pinakes.system_tables.catalog_metadata.columns import ColumnFacts, arrow_columns
from pinakes.system_tables.catalog_metadata.constraints import Key, list_keys
from pinakes.system_tables.catalog_metadata.executor import submit_ahead
from pinakes.system_tables.catalog_metadata.listing import EVERY_KIND, Entry, Kind, Space
from pinakes.system_tables.catalog_metadata.loading import Described, finish_loading, start_loading
from pinakes.system_tables.catalog_metadata.namespaces import window_of
from pinakes.system_tables.name_predicates import Like, NamePredicate, OneOf, both

Columns = list[tuple[pa.Field, ColumnFacts]]


class Wanted(NamedTuple):
    """Which objects: a catalog by its exact name, the others by patterns of LIKE. None is any."""

    catalog: str | None = None
    schema: str | None = None
    table: str | None = None

    @property
    def condition(self) -> NamePredicate:
        catalog = [] if self.catalog is None else [OneOf("catalog", frozenset({self.catalog}))]
        schema = [] if self.schema is None else [Like("schema", self.schema)]
        table = [] if self.table is None else [Like("table", self.table)]
        return both(*catalog, *schema, *table)


def exactly(name: str | None) -> str | None:
    """The pattern that only this name matches."""
    if name is None:
        return None
    return "".join(f"\\{c}" if c in "%_\\" else c for c in name)


class Metadata:
    """One question of one session; made by `asking`."""

    def __init__(self, execution: Execution) -> None:
        self._zone = execution.session.settings.time_zone
        self._context = context_of(execution, None)

    def catalogs(self) -> list[str]:
        return sorted(mount.name for mount in listing.list_catalogs(self._request(Wanted())))

    def schemas(self, wanted: Wanted) -> list[Space]:
        request = self._request(wanted)
        found = [
            s for s in listing.list_spaces(request) if request.wanted.may({"catalog": s.catalog, "schema": s.schema})
        ]
        return sorted(found, key=lambda s: (s.catalog, s.schema))

    def tables(self, wanted: Wanted, kinds: frozenset[Kind] = EVERY_KIND) -> list[Entry]:
        """Names only, in the order of catalog, schema and name."""
        found = listing.list_objects(self._request(wanted), kinds)
        return sorted(found, key=lambda e: (e.catalog, e.schema, e.name, e.kind))

    def with_columns(self, entries: Sequence[Entry]) -> Iterator[tuple[Entry, Columns]]:
        """The tables with their columns, loaded several at a time; what can't be loaded is left out."""
        request = self._request(Wanted())
        lost: set[str] = set()
        for entry, call in submit_ahead(iter(entries), lambda entry: start_loading(request, entry), window_of(request)):
            found = finish_loading(entry, call, lost)
            if found is not None:
                yield entry, arrow_columns(Described(entry, found), self._context, self._zone)

    def keys(self, wanted: Wanted) -> list[Key]:
        """The columns of the primary keys."""
        found = (key for key in list_keys(self._request(wanted)) if key.constraint.type == "PRIMARY KEY")
        return sorted(found, key=lambda k: (k.constraint.entry[1:5], k.constraint.name, k.position))

    def _request(self, wanted: Wanted) -> Request:
        return Request(self._context, frozenset(), wanted.condition)


@contextmanager
def asking(session: Session, what: str, started: Callable[[Query], None] | None = None) -> Iterator[Metadata]:
    """Ask within; it is tracked as a statement is, and can be stopped like one."""
    query = session.engine.tracker.start(session.identity.user, session.source, session.settings.statement_timeout)
    session.running.add(query)
    query.describe("Metadata", what)
    if started is not None:
        started(query)
    try:
        session.guard.metadata(what)
        with query.phase("execute"):
            yield Metadata(Execution(session, query, what))
    except BaseException as error:
        typed = translate(error) if isinstance(error, Exception) or is_panic(error) else error
        query.end(typed)
        let_go(error)
        if typed is error:
            raise
        raise typed from error
    query.end()
