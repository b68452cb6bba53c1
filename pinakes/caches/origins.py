"""Tracks mounts of the same catalog: a change through one invalidates the entries of the others."""

from __future__ import annotations

import threading


class Origins:
    """Mounts by origin, a string that is equal for all mounts of one location. If unrelated mounts share an origin,
    more entries than necessary are invalidated.
    """

    def __init__(self) -> None:
        self._origins: dict[str, str] = {}
        self._gone: set[str] = set()
        """Detached mounts. Mount numbers are never reused, so a detached mount does not come back."""
        self._lock = threading.Lock()

    def has(self, mount: str) -> bool:
        """Whether entries of a mount may be cached: false for a detached one."""
        return mount in self._origins

    def is_gone(self, mount: str) -> bool:
        """Whether a mount was detached: false for one that has not been opened yet."""
        return mount in self._gone

    def add(self, mount: str, origin: str) -> None:
        """Adds a mount, unless it was detached while it was being opened."""
        with self._lock:
            if mount not in self._gone:
                self._origins[mount] = origin

    def remove(self, mount: str) -> None:
        with self._lock:
            self._gone.add(mount)
            self._origins.pop(mount, None)

    def kin(self, mount: str, origin: str) -> tuple[str, ...]:
        """Returns a mount, which may be detached, and the other mounts of its origin."""
        with self._lock:
            return (mount, *(m for m, o in self._origins.items() if o == origin and m != mount))

    def around(self, place: str, *, within: bool) -> tuple[str, ...]:
        """Returns the mounts of a location and of its parents; with `within`, those of locations below it, too."""
        with self._lock:
            return tuple(m for m, o in self._origins.items() if _is_in(place, o) or (within and _is_in(o, place)))


def _is_in(inner: str, outer: str) -> bool:
    return f"{inner.rstrip('/')}/".startswith(f"{outer.rstrip('/')}/")
