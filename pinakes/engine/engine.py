"""The engine: one per process. It owns the registry, the caches, the tracker and the memory that queries share."""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING

from pinakes.caches.registry import Caches
from pinakes.core.catalog import Catalog
from pinakes.core.config import Config
from pinakes.core.errors import InvalidArgument
from pinakes.core.identity import Identity, local_identity
from pinakes.engine.context import make_runtime
from pinakes.engine.files.access import FileAccess
from pinakes.engine.opening import Opening
from pinakes.engine.places import Scope
from pinakes.engine.registry import Mount, Registry
from pinakes.engine.secrets import SecretRef, SecretStore
from pinakes.engine.session import Session
from pinakes.engine.tracker import QueryTracker

if TYPE_CHECKING:
    from pinakes.parser.statements import AnyStatement


Opener = Callable[["Engine", Opening], tuple[Catalog, Callable[[], None]]]
"""How a catalog is opened; given by whoever puts the application together. The catalog, and what closes it."""


class Engine:
    def __init__(
        self,
        config: Config,
        caches: Caches[AnyStatement],
        home: Scope,
        opener: Opener,
        on_close: Callable[[], None] = lambda: None,
    ) -> None:
        self.config = config
        self.caches = caches
        self.home = home
        self.registry = Registry()
        self.secrets = SecretStore()
        self.tracker = QueryTracker(config.engine.tracker_queries, config.engine.tracker_age)
        self.runtime = make_runtime(config.engine)
        self.files = FileAccess(config.engine.allowed_paths)
        self._opener = opener
        self._mount_ids = itertools.count(1)
        self._session_ids = itertools.count(1)
        self._sessions: weakref.WeakSet[Session] = weakref.WeakSet()
        self._on_close = weakref.finalize(self, on_close)  # also when nobody closes it

    def session(self, identity: Identity | None = None, *, source: str = "") -> Session:
        """A new session, at home in the embedded catalog."""
        identity = identity or local_identity()
        if not identity.user:  # what nobody's is everybody's: see SHARED in engine/secrets.py
            raise InvalidArgument("a session needs the name of its user")
        session = Session(self, identity, self.home, source)
        self._sessions.add(session)
        return session

    def open_catalog(self, opening: Opening) -> tuple[Catalog, Callable[[], None]]:
        """A catalog, open and not yet mounted, and what closes it."""
        return self._opener(self, opening)

    def users_of(self, secret: SecretRef) -> list[Mount]:
        """The mounts that are opened with a secret, whoever sees them."""
        return [mount for mount in self.registry.everything() if secret in mount.secrets]

    def next_mount_id(self) -> str:
        """Tells two mountings apart, also of one name: what is cached for one is never read for the other."""
        return str(next(self._mount_ids))

    def next_session_id(self) -> str:
        return str(next(self._session_ids))

    def close(self) -> None:
        """Stop what runs and release the catalogs; a temporary data directory goes with it."""
        for session in list(self._sessions):
            session.close()
        self.registry.close()
        self.secrets.close()
        self.tracker.close()
        self._on_close()

    def __enter__(self) -> Engine:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
