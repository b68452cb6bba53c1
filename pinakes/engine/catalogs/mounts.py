"""The mounted catalogs as one session sees them: its own, its user's, and everybody's."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from pinakes.core.errors import (
    CatalogExists,
    CatalogNotFound,
    InvalidArgument,
    PermissionDenied,
    QueryCanceled,
    listing,
)
from pinakes.core.identity import Identity
from pinakes.core.names import INFORMATION_SCHEMA, RESERVED_CATALOGS, SYSTEM, TEMP, Part, match
from pinakes.engine.catalogs.registry import EVERYBODY, Audience, Mount, Registry
from pinakes.engine.catalogs.system_mounts import information_schema_mount, system_mounts

if TYPE_CHECKING:
    from datetime import datetime

    from pinakes.core.catalog import Catalog


class Overlay(Protocol):
    """What a transaction lays over the catalogs that its session sees."""

    def over(self, mount: Mount, catalog: Catalog) -> Catalog:
        """The catalog with the transaction's own changes in it."""
        ...

    def claim(self, mount: Mount, catalog: Catalog) -> None:
        """Something in it is to be changed; raise unless the transaction can do that."""
        ...


@dataclass(frozen=True, slots=True)
class Mounted:
    """A mount in the eyes of one user: its catalog is the one that this user's token opens, where tokens count."""

    mount: Mount
    identity: Identity
    overlay: Overlay | None = field(default=None, compare=False)

    @property
    def name(self) -> str:
        return self.mount.name

    @property
    def type(self) -> str:
        return self.mount.type

    @property
    def is_private(self) -> bool:
        """It is the session's own place for temporary things."""
        return self.mount.origin == "session"

    @property
    def is_system(self) -> bool:
        """It holds system tables, which no catalog has."""
        return self.mount.origin == "system"

    @property
    def executor_key(self) -> Hashable:
        """Who else waits for the same calls: the users of one mount do not wait for each other's."""
        return (self.mount, self.identity.fingerprint)

    @property
    def read_only(self) -> bool:
        return self.mount.read_only or self.is_system

    @property
    def visibility(self) -> str:
        return "session" if self.is_private else self.mount.audience.visibility

    @property
    def mounted_at(self) -> datetime:
        return self.mount.mounted_at

    @property
    def is_open(self) -> bool:
        return self.mount.is_open

    @property
    def catalog(self) -> Catalog:
        catalog = self.mount.catalog_for(self.identity)
        return catalog if self.overlay is None else self.overlay.over(self.mount, catalog)

    def check_writable(self) -> None:
        """Raise where ATTACH said READ_ONLY, and where the transaction that runs can't make the change."""
        if self.mount.read_only:
            raise PermissionDenied(
                f"catalog '{self.name}' is attached READ_ONLY: nothing in it can be changed. "
                f"ATTACH it without READ_ONLY to change it."
            )
        if self.overlay is not None:
            self.overlay.claim(self.mount, self.mount.catalog_for(self.identity))


Check = Callable[[Mounted], None]
"""Raises unless a mount may be replaced."""


class Mounts:
    """What one session sees. A name means the session's own mount first, then its user's, then everybody's.

    `own` are mounts that no registry knows: the catalog of temporary tables. They are found by name and are not among
    what is attached, as are the catalogs of system tables.
    """

    def __init__(self, registry: Registry, identity: Identity, session: str, own: Sequence[Mount] = ()) -> None:
        self._registry = registry
        self.identity = identity
        self._session = session
        self._own = {**system_mounts(), **{mount.name: mount for mount in own}}
        self._closed = False
        self.overlay: Overlay | None = None
        """What the session's transaction lays over them, while there is one."""
        self._audiences = (Audience("session", session), Audience("user", identity.user), EVERYBODY)

    @property
    def shared(self) -> Mounts:
        """Without what is temporary: what a stored view sees."""
        shared = Mounts(self._registry, self.identity, self._session)
        shared.overlay = self.overlay
        return shared

    @property
    def world(self) -> Hashable:
        """The same for as long as every name of a catalog means what it did, and for all sessions of a user to whom it
        means the same."""
        session, user, everybody = self._audiences
        versions = self._registry.version(user), self._registry.version(everybody)
        return (*versions, self._session, self._registry.version(session)) if self._registry.of(session) else versions

    def own(self, name: str) -> Mounted | None:
        """A catalog that no registry knows."""
        mount = self._own.get(name)
        return None if mount is None else self._mounted(mount)

    def audience(self, visibility: str) -> Audience:
        """Those who are to see a mount that this session makes."""
        return next(a for a in self._audiences if a.visibility == visibility)

    def find(self, part: Part) -> str | None:
        """The exact name of the catalog that `part` means, or None when none is mounted under it."""
        if self._exact(part.text) is not None:
            return part.text
        return None if part.quoted else match(part, {**self._visible(), **self._own}, "catalog")

    def get(self, name: str) -> Mounted:
        mount = self._exact(name)
        if mount is None:
            raise self._missing(name)
        return self._mounted(mount)

    def current(self, name: str) -> Mounted:
        """The session's current catalog, which may have been detached meanwhile."""
        mount = self._exact(name)
        if mount is None:
            raise CatalogNotFound(
                f"the current catalog '{name}' is not attached any more; attached: {listing(self._visible())}. "
                f"USE another one, or name the catalog."
            )
        return self._mounted(mount)

    def mount_for_namespace(self, mounted: Mounted, levels: Sequence[Part]) -> Mounted:
        """The mount in which a namespace is looked up: `information_schema` of a catalog has a mount of its own."""
        if len(levels) != 1 or mounted.is_system or not levels[0].matches(INFORMATION_SCHEMA):
            return mounted
        return Mounted(information_schema_mount(mounted.name), self.identity)

    def require(self, part: Part) -> Mounted:
        """The mount that `part` means; an error that lists what is attached when there is none."""
        name = self.find(part)
        if name is None:
            raise self._missing(part.text)
        return self.get(name)

    def attached(self) -> list[Mounted]:
        """The attached catalogs that the user can see, which errors list."""
        return [self._mounted(mount) for _, mount in sorted(self._visible().items())]

    def visible(self) -> list[Mounted]:
        """The attached catalogs, the system catalog, and the temporary one once it is used."""
        own = [found for name in (SYSTEM, TEMP) if (found := self.own(name)) and (found.is_system or found.is_open)]
        return sorted([*self.attached(), *own], key=lambda mounted: mounted.name)

    def check_free(self, name: str, *, replace: Check | None = None) -> Mounted | None:
        """Raise unless a catalog can be mounted under this name; what it takes the place of, if `replace` permits."""
        if name.casefold() in RESERVED_CATALOGS:
            raise InvalidArgument(f"catalog name '{name}' is reserved; choose another")
        mount = self._exact(name)
        if mount is None:
            return None
        if replace is None:
            raise CatalogExists(
                f"catalog '{name}' is attached already; attached: {listing(self._visible())}. "
                f"DETACH it first, or use ATTACH OR REPLACE."
            )
        replace(self._mounted(mount))
        return self._mounted(mount)

    def mount(self, mount: Mount, *, replace: Check | None = None) -> None:
        """Mount it, in place of the one that has its name now where `replace` permits that."""
        with self._registry.changing():
            if self._closed:
                raise QueryCanceled("the session was closed")
            old = self.check_free(mount.name, replace=replace)
            self._registry.mount(mount, in_place_of=old.mount if old is not None else None)
        if old is not None:
            old.mount.forget()

    def detach(self, mounted: Mounted) -> None:
        self._registry.detach(mounted.mount)
        mounted.mount.forget()

    def close(self) -> None:
        """The session is over: what only it saw goes, and it mounts nothing any more."""
        with self._registry.changing():
            self._closed = True
        self._registry.leave(self._audiences[0])

    def abandon(self) -> None:
        """The same, for a session that was not closed."""
        self._registry.abandon(self._audiences[0])

    def _exact(self, name: str) -> Mount | None:
        if name in self._own:
            return self._own[name]
        for audience in self._audiences:
            mount = self._registry.of(audience).get(name)
            if mount is not None:
                return mount
        return None

    def _mounted(self, mount: Mount) -> Mounted:
        return Mounted(mount, self.identity, self.overlay)

    def _visible(self) -> Mapping[str, Mount]:
        visible: dict[str, Mount] = {}
        for audience in reversed(self._audiences):
            visible |= self._registry.of(audience)
        return visible

    def _missing(self, name: str) -> CatalogNotFound:
        return CatalogNotFound(
            f"catalog '{name}' is not attached; attached: {listing(self._visible())}. ATTACH it first."
        )
