"""A session: one connection's identity, place, settings and prepared statements. All else belongs to the engine."""

from __future__ import annotations

import copy
import threading
import weakref
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any

from pinakes.config.settings import Settings
from pinakes.core.arrays.nan import usual_nan
from pinakes.core.errors import InvalidArgument
from pinakes.core.identity import Identity
from pinakes.core.names import dotted
from pinakes.core.version import __version__
from pinakes.engine.binding.namespaces import Scope
from pinakes.engine.binding.resolver import Remembered, Resolver
from pinakes.engine.binding.session_relations import Lookup, SessionRelations
from pinakes.engine.catalogs.mounts import Mounts
from pinakes.engine.catalogs.temp_catalog import TempCatalog
from pinakes.engine.datafusion.catalog_bridge import Bridge
from pinakes.engine.datafusion.session_config import Switches, apply_settings, limit_footers
from pinakes.engine.execution.weak_set import WeakSet
from pinakes.engine.iceberg.scan.claims import Claims
from pinakes.engine.result import Result
from pinakes.parser import TRANSLATED, classify_dialect

if TYPE_CHECKING:
    from datafusion import SessionContext

    from pinakes.caches.files import FooterCache, ManifestCache
    from pinakes.engine.catalogs.authorization.guard import Guard
    from pinakes.engine.engine import Engine
    from pinakes.engine.execution.tracker import Query
    from pinakes.engine.transactions.transaction import Transaction
    from pinakes.parser import Translated
    from pinakes.parser.statements import Statement


MOST_WARNINGS = 100
"""How many wait to be shown: most clients of a server never ask for them."""


MEMORY = 1 << 16
"""Bytes that count for a session itself."""


class Session:
    """Safe to use from several threads; each statement is its own query."""

    def __init__(self, engine: Engine, identity: Identity, scope: Scope, source: str = "") -> None:
        self.engine = engine
        self.identity = identity
        self._guard = engine.guard(identity)
        self.source = source
        self.scope = scope
        self.remembered: Remembered = weakref.WeakKeyDictionary()
        self.defaults = Settings.of(engine.config.engine)
        self.settings = self.defaults
        self.prepared: dict[str, str] = {}
        budget = engine.memory_budget
        self.prepared_memory = budget.reserve(identity.user, MEMORY) if budget is not None else None
        """That of the session and its prepared statements, on a server."""
        self.temporary = SessionRelations()
        self._temp = TempCatalog(engine, identity.user)
        self.session_id = engine.next_session_id()
        self.created = datetime.now(UTC)
        self.is_closed = False
        self.catalogs = Mounts(engine.registry, identity, self.session_id, [self._temp.mount])
        self.transaction: Transaction | None = None
        self.warnings: list[str] = []
        self.plan_lock = threading.RLock()
        self.switches = Switches(self.settings)
        self.claims = Claims()
        self.running: WeakSet[Query] = WeakSet()
        weakref.finalize(self, self._temp.close)  # also if it is not closed
        weakref.finalize(self, self.catalogs.abandon).atexit = False

    def run(
        self,
        sql: str,
        parameters: Mapping[str, Any] | Sequence[Any] | None = None,
        *,
        lookup: Lookup | None = None,
        started: Callable[[Query], None] | None = None,
        queues: bool = True,
    ) -> Result:
        """Carry out one statement. A query has only begun when this returns: its rows stream.

        `lookup` is called during planning for names that neither the session nor a catalog has. `started` receives
        the query before anything is done, so that it can be canceled. With `queues` it waits for a slot on a server;
        otherwise it uses the slot of the caller's statement.
        """
        return self.engine.run(sql, self, as_mapping(parameters), lookup, started, queues=queues)

    def read(self, sql: str) -> tuple[Statement, Translated | None]:
        """Parses a statement in the dialect of the session, and returns its translation if that is not ours."""
        dialect = self.settings.dialect
        if dialect not in TRANSLATED:
            return self.engine.caches.statements.classify(sql), None
        found = self.engine.caches.statements.translate(sql, dialect, classify_dialect)
        return found.statement, found

    @property
    def time_limit(self) -> tuple[float, bool]:
        """Seconds that a statement may run, 0 without a limit, and whether the session has set them: a server may allow
        less."""
        own, admission = self.settings.statement_timeout, self.engine.admission
        most = 0.0 if admission is None else admission.limits.timeout
        return min(own or most, most or own), not (most and most <= (own or most))

    def cancel(self, reason: str = "canceled by the user") -> None:
        """Stop whatever this session runs; called from another thread."""
        for query in list(self.running):
            query.cancel(reason)

    def close(self) -> None:
        """Stops running statements, rolls back the transaction, and drops temporary tables and views."""
        self.is_closed = True
        self.cancel("the session was closed")
        transaction = self.end_transaction()
        if transaction is not None:
            transaction.rollback()
        self._temp.close()
        self.catalogs.close()
        self.prepared.clear()
        if self.prepared_memory is not None:
            self.prepared_memory.release()
        if self.engine.started_remote is not None:
            self.engine.started_remote.release(self.session_id)

    def warn(self, text: str) -> None:
        """Adds a warning to the statement. Of warnings that are not read, only the newest are kept."""
        self.warnings.append(text)
        del self.warnings[:-MOST_WARNINGS]

    def begin(self, *, read_only: bool = False) -> None:
        """From here on, until `end_transaction`, statements change nothing but the transaction."""
        from pinakes.engine.transactions.transaction import Transaction

        self.transaction = self.catalogs.overlay = Transaction(read_only=read_only)

    def end_transaction(self) -> Transaction | None:
        """The transaction that has begun, if any, for the statement that ends it."""
        ended, self.transaction, self.catalogs.overlay = self.transaction, None, None
        return ended

    def aside(self) -> Session:
        """The same session but for transactions: what is begun there, only its own statements are in. It ends with
        this one, and must not outlive it."""
        self.context  # noqa: B018 - made now, since both plan in one context
        other = copy.copy(self)
        other.catalogs, other.transaction = copy.copy(self.catalogs), None
        other.catalogs.overlay = None
        return other

    def in_our_dialect(self) -> Session:
        """The same session for statements that we write, whatever dialect its user has set."""
        if self.settings.dialect not in TRANSLATED:
            return self
        self.context  # noqa: B018 - made now, since both plan in one context
        other = copy.copy(self)
        other.settings = replace(self.settings, dialect="pinakes")
        return other

    @property
    def guard(self) -> Guard:
        """What its user may do, as the configuration has it now."""
        if self._guard.policy is not self.engine.policy:
            self._guard = self.engine.guard(self.identity)
        return self._guard

    def renew(self, identity: Identity) -> None:
        """The same user has logged in again, with another token or other roles."""
        if identity.user != self.identity.user:
            raise InvalidArgument("a session stays that of its user")
        self._guard = self.engine.guard(identity)
        self.identity = self.catalogs.identity = identity

    @property
    def resolver(self) -> Resolver:
        return self.resolver_for(lambda _: None)

    def resolver_for(self, touch: Callable[[str], None]) -> Resolver:
        """Called with each catalog that a statement uses."""
        return Resolver(self.catalogs, self.scope, self.remembered, self.temporary, touch=touch)

    @cached_property
    def manifests(self) -> ManifestCache:
        """The engine's cache, as this user may see it."""
        return self.engine.caches.manifests.of(self.identity.reader)

    @cached_property
    def footers(self) -> FooterCache:
        return self.engine.caches.footers.of(self.identity.reader)

    @cached_property
    def bridge(self) -> Bridge:
        return Bridge()

    @cached_property
    def context(self) -> SessionContext:
        return self.engine.contexts.make(self.identity.reader, self.settings, self.bridge)

    def limit_footers(self) -> None:
        """DataFusion remembers footers, too: as much as the engine's cache may."""
        if "context" in self.__dict__:  # else it is made with the limit
            with self.plan_lock:
                limit_footers(self.context, self.engine.cache_limits.now.footers.max_bytes)

    def change_settings(self, settings: Settings) -> None:
        with self.plan_lock:
            self.settings = settings
            apply_settings(self.context, settings)
            self.switches.applied(settings)

    def value(self, name: str) -> str:
        """What current_catalog and its kin stand for."""
        match name:
            case "current_catalog":
                return self.scope.catalog
            case "current_schema":
                return dotted(self.scope.namespace)
            case "current_user":
                return self.identity.user
            case "version":
                return f"Pinakes {__version__}"
            case _:
                raise InvalidArgument(f"no session value {name!r}")


def as_mapping(parameters: Mapping[str, Any] | Sequence[Any] | None) -> dict[str, Any]:
    """Parameters by name; positional ones are named 1, 2, 3, …"""
    if parameters is None:
        return {}
    if isinstance(parameters, Mapping):
        return {str(k): usual_nan(v) for k, v in parameters.items()}
    return {str(i): usual_nan(v) for i, v in enumerate(parameters, 1)}
