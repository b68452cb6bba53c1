"""The only owner of which catalogs are mounted; everything else asks it, each time.

A mount has an audience: everybody, one user, or one session. So names are private to those who see them: what one user
calls `partner` neither hides nor reveals what another one does. A session asks through `mounts.py`, which shows it the
mounts it may see.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal, NamedTuple

from pinakes.caches.registry import Caches
from pinakes.core.catalog import Catalog
from pinakes.core.errors import CatalogExists, CatalogNotFound
from pinakes.core.identity import Identity
from pinakes.engine.catalogs.secrets import SecretRef

Origin = Literal["config", "attach", "session", "system"]


class Audience(NamedTuple):
    """Who sees a mount: `whom` is a user's name or a session's number, and empty for everybody."""

    visibility: Literal["session", "user", "all"] = "all"
    whom: str = ""


EVERYBODY = Audience()


@dataclass(slots=True)
class MountId:
    """The identity of a mount in the keys of caches. It changes at each renewal, so that statements that still use the
    old catalog do not fill the caches of the new one."""

    number: str = ""
    renewals: int = 0

    def renew(self) -> None:
        self.renewals += 1

    def __str__(self) -> str:
        return f"{self.number}.{self.renewals}"


@dataclass(slots=True, eq=False, weakref_slot=True)
class Mount:
    """A catalog under a name. It is opened on first use, so an unreachable one affects no other.

    A mount that passes tokens on has one client per user's token, otherwise one for all. A failure to open is raised
    and not cached.
    """

    name: str
    type: str
    origin: Origin
    owner: str
    opener: Callable[[Identity], Catalog] = field(repr=False)
    audience: Audience = EVERYBODY
    read_only: bool = False
    pass_token: bool = False
    secrets: tuple[SecretRef, ...] = ()
    """What it is opened with."""
    places: tuple[str, ...] = ()
    """The parts of object stores that are its own: its warehouse, and the scope of the secret for its files."""
    caches: Caches[Any] | None = field(default=None, repr=False)
    """The caches of its metadata, and of the clients of its users."""
    id: MountId = field(default_factory=MountId)
    mounted_at: datetime = field(default_factory=lambda: datetime.now(UTC))
    _catalog: Catalog | None = field(default=None, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)
    _opening: threading.Lock = field(default_factory=threading.Lock, repr=False)
    """Held while it is opened, which may take long: only who needs the catalog waits for it."""
    _closed: bool = field(default=False, repr=False)
    _late: dict[str, Catalog] = field(default_factory=dict, repr=False)
    """The clients of users whose statements outlive the mount, by the token's fingerprint."""

    def catalog_for(self, identity: Identity) -> Catalog:
        """The open catalog, as this user reaches it."""
        if self.pass_token:
            if self.caches is None:
                return self.opener(identity)
            if self.caches.origins.is_gone(str(self.id)):
                return self._last(identity)
            return self.caches.clients.get(str(self.id), identity.fingerprint, lambda: self.opener(identity))
        catalog = self._catalog
        if catalog is None:
            with self._opening:
                catalog = self._catalog or self._opened(identity)
        return catalog

    def _last(self, identity: Identity) -> Catalog:
        """For statements that go on with a mount that is detached: it goes with them."""
        with self._opening:
            if identity.fingerprint not in self._late:
                self._late[identity.fingerprint] = self.opener(identity)
            return self._late[identity.fingerprint]

    def _opened(self, identity: Identity) -> Catalog:
        """Kept, unless the mount was closed meanwhile; opened once more if it was renewed."""
        while True:
            renewals = self.id.renewals
            catalog = self.opener(identity)
            with self._lock:
                if renewals == self.id.renewals and not self._closed:
                    self._catalog = catalog
                if renewals == self.id.renewals or self._closed:
                    return catalog

    @property
    def is_open(self) -> bool:
        return self._catalog is not None

    def renew(self) -> None:
        """Open it again at its next use, as after a change of its secret. Statements that hold the old one keep it."""
        with self._lock:
            self._catalog = None
            before = str(self.id)
            self.id.renew()
        if self.caches is not None:
            self.caches.detach(before)

    def forget(self) -> None:
        """Remember nothing of it: neither its tables nor what opened them."""
        if self.caches is not None:
            self.caches.detach(str(self.id))

    def close(self) -> None:
        with self._lock:
            catalog, self._catalog, self._closed = self._catalog, None, True
        self.forget()
        if catalog is not None:
            catalog.close()


class Registry:
    """Mounts by audience and name. Readers see one consistent mapping: changes replace it."""

    def __init__(self) -> None:
        self._mounts: dict[Audience, dict[str, Mount]] = {}
        self._lock = threading.RLock()
        self._changes = 0
        self._version = 0
        self._versions: dict[Audience, int] = {}
        self._left: list[Audience] = []

    def of(self, audience: Audience) -> Mapping[str, Mount]:
        """The mounts of exactly this audience, by name."""
        return self._mounts.get(audience, {})

    def version(self, audience: Audience) -> int:
        """Another number after each change of what exactly this audience sees."""
        return self._versions.get(audience, 0)

    @contextmanager
    def changing(self) -> Iterator[None]:
        """No other thread mounts or detaches within it."""
        with self._lock:
            self._changes += 1
            try:
                yield
            finally:
                self._changes -= 1
                while self._left and not self._changes:
                    self._put(self._left.pop(), {})

    def mount(self, mount: Mount, *, in_place_of: Mount | None = None) -> None:
        """Make a mount known; CatalogExists when its audience has the name, unless that is what it replaces."""
        with self.changing():
            if self.of(mount.audience).get(mount.name, in_place_of) is not in_place_of:
                known = f"with VISIBILITY {mount.audience.visibility}"
                raise CatalogExists(f"catalog '{mount.name}' is attached already {known}. DETACH it first.")
            if in_place_of is not None:
                self._remove(in_place_of)
            self._put(mount.audience, {**self.of(mount.audience), mount.name: mount})

    def detach(self, mount: Mount) -> None:
        """Forget a mount. A statement that works with it goes on; it is closed when the last of them is done."""
        with self.changing():
            if self.of(mount.audience).get(mount.name) is not mount:
                raise CatalogNotFound(f"catalog '{mount.name}' is not attached any more")
            self._remove(mount)

    def leave(self, audience: Audience) -> None:
        """A session is over: what only it saw goes."""
        with self.changing():
            mounts = self._mounts.get(audience, {})
            self._put(audience, {})
        for mount in mounts.values():
            mount.close()

    def abandon(self, audience: Audience) -> None:
        """The same for a session that was not closed: its catalogs close when they are collected.

        Python may collect garbage at any moment, also during a change by this thread.
        """
        with self._lock:
            self._left.append(audience)
            if not self._changes:
                with self.changing():
                    pass

    def everything(self) -> Iterator[Mount]:
        """Every mount of every audience: for the engine itself, never for a user."""
        for mounts in list(self._mounts.values()):
            yield from mounts.values()

    def close(self) -> None:
        with self.changing():
            mounts, self._mounts = list(self.everything()), {}
        for mount in mounts:
            mount.close()

    def _remove(self, mount: Mount) -> None:
        held = self.of(mount.audience)
        if held.get(mount.name) is mount:
            self._put(mount.audience, {name: m for name, m in held.items() if name != mount.name})

    def _put(self, audience: Audience, mounts: dict[str, Mount]) -> None:
        others = {a: m for a, m in self._mounts.items() if a != audience}
        self._mounts = {**others, audience: mounts} if mounts else others
        self._version += 1
        if audience.visibility == "session" and not mounts:  # no other session will ever be called so
            self._versions.pop(audience, None)
        else:
            self._versions[audience] = self._version
