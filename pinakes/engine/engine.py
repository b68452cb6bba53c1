"""The engine: one per process. It owns the registry, the caches, the tracker and the memory that queries share."""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from pinakes.caches.counting_catalog import CatalogCalls
from pinakes.caches.limits import CacheLimits
from pinakes.caches.registry import Caches
from pinakes.config.model import Config
from pinakes.config.settings import Settings
from pinakes.core.access.path_sandbox import Roots
from pinakes.core.catalog import Catalog
from pinakes.core.delegating_catalog import DelegatingCatalog
from pinakes.core.errors import InvalidArgument
from pinakes.core.identity import Identity, local_identity
from pinakes.engine.binding.namespaces import Scope
from pinakes.engine.catalogs.authorization.guard import Guard
from pinakes.engine.catalogs.authorization.policy import EMBEDDED, Policy
from pinakes.engine.catalogs.opening import Opening
from pinakes.engine.catalogs.registry import Mount, Registry
from pinakes.engine.catalogs.secrets import SecretRef, SecretStore
from pinakes.engine.datafusion.bounded_functions import result_limit
from pinakes.engine.datafusion.session_config import make_runtime
from pinakes.engine.datafusion.session_contexts import Contexts
from pinakes.engine.execution.tracker import QueryTracker
from pinakes.engine.execution.weak_set import WeakSet
from pinakes.engine.files.access import FileAccess
from pinakes.engine.session import Session
from pinakes.system_tables.catalog_metadata.errors import MetadataErrors
from pinakes.system_tables.catalog_metadata.executor import CatalogExecutor

if TYPE_CHECKING:
    from pinakes.core.secret_file import SecretFile
    from pinakes.engine.binding.session_relations import Lookup
    from pinakes.engine.execution.admission import Admission
    from pinakes.engine.execution.memory_budget import MemoryBudget
    from pinakes.engine.execution.query import Query
    from pinakes.engine.iceberg.scan.object_stores import ObjectStores
    from pinakes.engine.remote.interface import RemoteEngine
    from pinakes.engine.result import Result
    from pinakes.parser.statements import AnyStatement


Opener = Callable[["Engine", Opening], tuple[Catalog, Callable[[], None]]]
"""How a catalog is opened; given by the application. The catalog, and what closes it."""


class Engine:
    def __init__(
        self,
        config: Config,
        caches: Caches[AnyStatement],
        home: Scope,
        opener: Opener,
        on_close: Callable[[], None] = lambda: None,
        policy: Policy = EMBEDDED,
        secret_file: SecretFile | None = None,
    ) -> None:
        self.config = config
        self.started = datetime.now(UTC)
        self.caches = caches
        self.cache_limits = CacheLimits(caches, config.caches)
        self.home = home
        self.registry = Registry()
        self.secrets = SecretStore(secret_file)
        self.tracker = QueryTracker(config.engine.tracker_queries, config.engine.tracker_age)
        self.runtime = make_runtime(config.engine)
        self.result_limit = result_limit(config.engine.memory_limit)
        self.contexts = Contexts(
            self.runtime, Settings.of(config.engine), config.caches.footers.max_bytes, self.result_limit
        )
        self.executor = CatalogExecutor()
        self.faults = MetadataErrors()
        self.calls = CatalogCalls()
        self.files = FileAccess(config.engine.allowed_paths)
        self.policy = policy
        self.admission: Admission | None = None
        """Admits statements, set by a server. Without it, every statement starts immediately."""
        self.own_directories: tuple[str, ...] = ()
        """The directories of data files that only Pinakes writes; set by `api/build.py`."""
        self.memory_budget: MemoryBudget | None = None
        """The memory for clients; set by a server."""
        self._opener = opener
        self._openings: weakref.WeakKeyDictionary[object, Opening] = weakref.WeakKeyDictionary()
        self.make_remote: Callable[[], RemoteEngine] | None = None
        """Creates the remote engine (Spark); set by `api/build.py`."""
        self.started_remote: RemoteEngine | None = None
        """The remote engine, once a statement has used it."""
        self._mount_ids = itertools.count(1)
        self._session_ids = itertools.count(1)
        self._sessions: WeakSet[Session] = WeakSet()
        self._on_close = weakref.finalize(self, on_close)  # also if it is not closed

    def session(self, identity: Identity | None = None, *, source: str = "") -> Session:
        """A new session, whose current catalog is the embedded one."""
        identity = identity or local_identity()
        if not identity.user:  # an empty owner means shared secrets: see SHARED in engine/catalogs/secrets.py
            raise InvalidArgument("a session needs the name of its user")
        session = Session(self, identity, self.home, source)
        self._sessions.add(session)
        return session

    def run(
        self,
        sql: str,
        session: Session,
        parameters: Mapping[str, Any],
        lookup: Lookup | None = None,
        started: Callable[[Query], None] | None = None,
        *,
        queues: bool = True,
    ) -> Result:
        """Carry out one statement of a session (`engine/run.py`)."""
        from pinakes.engine.run import run  # with the first statement, not with the engine: it loads the planner

        return run(sql, session, parameters, lookup, started, queues=queues)

    def guard(self, identity: Identity) -> Guard:
        """What a user may do."""
        return Guard(identity, self.policy, self.files)

    def confined_to(self, files: FileAccess, own: Iterable[str | Path]) -> tuple[str, ...] | None:
        """The directories that the tables of a catalog may have files in; None is any. `own` are those that it is
        mounted on. On a server without allowed_paths these are the only ones."""
        roots = files.roots
        if roots.directories is None and self.policy.confines:
            roots = Roots(())
        return roots.and_also(own).texts

    def sessions(self) -> list[Session]:
        """Those that are open, the oldest first."""
        return sorted((s for s in list(self._sessions) if not s.is_closed), key=lambda s: s.created)

    @cached_property
    def object_stores(self) -> ObjectStores:
        """Those that tables are read from natively."""
        from pinakes.engine.iceberg.scan.object_stores import ObjectStores

        return ObjectStores(self.runtime)

    def open_catalog(self, opening: Opening) -> tuple[Catalog, Callable[[], None]]:
        """A catalog, open and not yet mounted, and what closes it."""
        catalog, close = self._opener(self, opening)
        self._openings[catalog] = opening
        return catalog, close

    def opening_of(self, catalog: Catalog) -> Opening | None:
        """What an open catalog was opened with; None for one that was not opened, such as that of system tables."""
        found: object = catalog
        while found not in self._openings and isinstance(found, DelegatingCatalog):
            found = found.inner
        return self._openings.get(found)

    @property
    def remote(self) -> RemoteEngine | None:
        """The engine for what outgrows this machine, made at its first use; None if there is none."""
        if self.started_remote is None and self.make_remote is not None:
            self.started_remote = self.make_remote()
        return self.started_remote

    def users_of(self, secret: SecretRef) -> list[Mount]:
        """The mounts that are opened with a secret, visible to any user."""
        return [mount for mount in self.registry.everything() if secret in mount.secrets]

    def next_mount_id(self) -> str:
        """Distinguishes two mounts, also of one name: what is cached for one is never read for the other."""
        return str(next(self._mount_ids))

    def next_session_id(self) -> str:
        return str(next(self._session_ids))

    def close(self) -> None:
        """Stop what runs and release the catalogs; a temporary data directory goes with it."""
        for session in list(self._sessions):
            session.close()
        if self.started_remote is not None:
            self.started_remote.close()
        self.registry.close()
        self.secrets.close()
        self.tracker.close()
        self.contexts.close()
        self._on_close()

    def __enter__(self) -> Engine:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
