"""A session: one connection's identity, place, settings and prepared statements. All else belongs to the engine."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from pinakes import __version__
from pinakes.core.errors import InvalidArgument
from pinakes.core.identity import Identity
from pinakes.core.names import dotted
from pinakes.core.settings import Settings
from pinakes.engine.bridge import Bridge
from pinakes.engine.context import apply_settings, make_context
from pinakes.engine.mounts import Mounts
from pinakes.engine.places import Scope
from pinakes.engine.resolver import Remembered, Resolver
from pinakes.engine.result import Result
from pinakes.engine.temp_catalog import TempCatalog
from pinakes.engine.temporary import Lookup, Temporaries

if TYPE_CHECKING:
    from datafusion import SessionContext

    from pinakes.engine.engine import Engine
    from pinakes.engine.tracker import Query


class Session:
    """Safe to use from several threads; each statement is its own query."""

    def __init__(self, engine: Engine, identity: Identity, scope: Scope, source: str = "") -> None:
        self.engine = engine
        self.identity = identity
        self.source = source
        self.scope = scope
        self.remembered: Remembered = weakref.WeakKeyDictionary()
        self.defaults = Settings.of(engine.config.engine)
        self.settings = self.defaults
        self.prepared: dict[str, str] = {}
        self.temporary = Temporaries()
        self._temp = TempCatalog(engine, identity.user)
        self.catalogs = Mounts(engine.registry, identity, engine.next_session_id(), [self._temp.mount])
        self.warnings: list[str] = []
        self.plan_lock = threading.RLock()
        self.running: weakref.WeakSet[Query] = weakref.WeakSet()
        weakref.finalize(self, self._temp.close)  # also when nobody closes it
        weakref.finalize(self, self.catalogs.abandon).atexit = False

    def run(
        self,
        sql: str,
        parameters: Mapping[str, Any] | Sequence[Any] | None = None,
        *,
        lookup: Lookup | None = None,
    ) -> Result:
        """Carry out one statement. A query has only begun when this returns: its rows stream.

        `lookup` is asked, while it is planned, for names that neither the session nor a catalog has.
        """
        from pinakes.engine.run import run

        return run(sql, self, as_mapping(parameters), lookup)

    def cancel(self, reason: str = "canceled by the user") -> None:
        """Stop whatever this session runs; called from another thread."""
        for query in list(self.running):
            query.cancel(reason)

    def close(self) -> None:
        """Stop what runs; temporary tables and views are gone."""
        self.cancel("the session was closed")
        self._temp.close()
        self.catalogs.close()

    @property
    def resolver(self) -> Resolver:
        return Resolver(self.catalogs, self.scope, self.remembered, self.temporary)

    @cached_property
    def bridge(self) -> Bridge:
        return Bridge()

    @cached_property
    def context(self) -> SessionContext:
        return make_context(self.engine.runtime, self.settings, self.bridge)

    def change_settings(self, settings: Settings) -> None:
        with self.plan_lock:
            self.settings = settings
            apply_settings(self.context, settings)

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
        return {str(k): v for k, v in parameters.items()}
    return {str(i): v for i, v in enumerate(parameters, 1)}
