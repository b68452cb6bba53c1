"""The only owner of which catalogs are mounted; everything else asks it, each time."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Literal

from pinakes.core.catalog import Catalog
from pinakes.core.errors import CatalogExists, CatalogNotFound, InvalidArgument, listing
from pinakes.core.names import RESERVED_CATALOGS, Part, match

Origin = Literal["config", "attach", "session"]


@dataclass(slots=True)
class Mount:
    """A catalog under a name. It is opened when it is first asked for, so an unreachable one stops nobody else."""

    name: str
    type: str
    origin: Origin
    owner: str
    opener: Callable[[], Catalog] = field(repr=False)
    mounted_at: datetime = field(default_factory=lambda: datetime.now(UTC))
    _catalog: Catalog | None = field(default=None, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    @property
    def catalog(self) -> Catalog:
        """The open catalog; a failure to open is raised and not remembered."""
        if self._catalog is None:
            with self._lock:
                if self._catalog is None:
                    self._catalog = self.opener()
        return self._catalog

    @property
    def is_open(self) -> bool:
        return self._catalog is not None

    @property
    def is_private(self) -> bool:
        """Only one session has it."""
        return self.origin == "session"

    def close(self) -> None:
        with self._lock:
            catalog, self._catalog = self._catalog, None
        if catalog is not None:
            catalog.close()


class Registry:
    """Mounts by name. Readers see one consistent mapping: changes replace it whole."""

    def __init__(self) -> None:
        self._mounts: dict[str, Mount] = {}
        self._lock = threading.Lock()

    def check_free(self, name: str, *, replace: bool = False) -> None:
        """Raise unless a catalog can be mounted under this name."""
        if name in RESERVED_CATALOGS:
            raise InvalidArgument(f"catalog name '{name}' is reserved; choose another")
        if name in self._mounts and not replace:
            raise CatalogExists(
                f"catalog '{name}' is attached already; attached: {listing(self._mounts)}. "
                f"DETACH it first, or use ATTACH OR REPLACE."
            )

    def mount(self, mount: Mount, *, replace: bool = False) -> None:
        with self._lock:
            self.check_free(mount.name, replace=replace)
            old = self._mounts.get(mount.name)
            self._mounts = {**self._mounts, mount.name: mount}
        if old is not None:
            old.close()

    def detach(self, part: Part) -> Mount:
        with self._lock:
            name = self._known(part)
            mount = self._mounts[name]
            self._mounts = {k: v for k, v in self._mounts.items() if k != name}
        mount.close()
        return mount

    def find(self, part: Part) -> str | None:
        """The exact name of the catalog that `part` means, or None when none is mounted under it."""
        if part.text in self._mounts:
            return part.text
        return None if part.quoted else match(part, self._mounts, "catalog")

    def get(self, name: str) -> Mount:
        mount = self._mounts.get(name)
        if mount is None:
            raise self._missing(name)
        return mount

    def require(self, part: Part) -> Mount:
        """The mount that `part` means; an error that lists what is attached when there is none."""
        return self.get(self._known(part))

    def mounts(self) -> list[Mount]:
        return sorted(self._mounts.values(), key=lambda m: m.name)

    def close(self) -> None:
        with self._lock:
            mounts, self._mounts = self._mounts, {}
        for mount in mounts.values():
            mount.close()

    def _known(self, part: Part) -> str:
        name = self.find(part)
        if name is None:
            raise self._missing(part.text)
        return name

    def _missing(self, name: str) -> CatalogNotFound:
        return CatalogNotFound(f"catalog '{name}' is not attached; attached: {listing(self._mounts)}. ATTACH it first.")
