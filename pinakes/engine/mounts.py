"""The catalogs that one session sees: those that it alone has, then those of the registry."""

from __future__ import annotations

from collections.abc import Sequence

from pinakes.core.names import Part, match
from pinakes.engine.registry import Mount, Registry


class Mounts:
    def __init__(self, registry: Registry, own: Sequence[Mount] = ()) -> None:
        self._registry = registry
        self._own = {mount.name: mount for mount in own}

    @property
    def shared(self) -> Mounts:
        """Without those of the session: what a stored view sees, whoever reads it."""
        return Mounts(self._registry)

    def own(self, name: str) -> Mount | None:
        """A catalog that this session alone has."""
        return self._own.get(name)

    def find(self, part: Part) -> str | None:
        """The exact name of the catalog that `part` means, or None when there is none."""
        return match(part, self._own, "catalog") or self._registry.find(part)

    def get(self, name: str) -> Mount:
        return self._own.get(name) or self._registry.get(name)

    def require(self, part: Part) -> Mount:
        """The mount that `part` means; an error that lists what is attached when there is none."""
        name = self.find(part)
        return self._registry.require(part) if name is None else self.get(name)

    def listed(self) -> list[Mount]:
        """What SHOW CATALOGS and the errors list: what is attached, for everybody to see."""
        return self._registry.mounts()
