"""Which mounts are of one and the same catalog: what is changed through one is forgotten for the others, too."""

from __future__ import annotations

import threading


class Origins:
    """An origin is a text that is the same for all mounts of one place. Too many that share one do no harm: they forget
    more than they must."""

    def __init__(self) -> None:
        self._origins: dict[str, str] = {}
        self._gone: set[str] = set()
        """No two mounts ever have the same number, so one that is gone does not come back."""
        self._lock = threading.Lock()

    def has(self, mount: str) -> bool:
        """Whether it is to be remembered what a mount holds: of one that is gone, nothing is."""
        return mount in self._origins

    def is_gone(self, mount: str) -> bool:
        """Whether it was detached: one that was never opened is not there yet, and not gone either."""
        return mount in self._gone

    def add(self, mount: str, origin: str) -> None:
        """Unless it is gone already: it may have been detached while it was opened."""
        with self._lock:
            if mount not in self._gone:
                self._origins[mount] = origin

    def remove(self, mount: str) -> None:
        with self._lock:
            self._gone.add(mount)
            self._origins.pop(mount, None)

    def kin(self, mount: str, origin: str) -> tuple[str, ...]:
        """A mount, which may be detached by now, and the others of its origin."""
        with self._lock:
            return (mount, *(m for m, o in self._origins.items() if o == origin and m != mount))

    def around(self, place: str, *, within: bool) -> tuple[str, ...]:
        """The mounts of a place and of what it is in; those of what is `within` it, too."""
        with self._lock:
            return tuple(m for m, o in self._origins.items() if _is_in(place, o) or (within and _is_in(o, place)))


def _is_in(inner: str, outer: str) -> bool:
    return f"{inner.rstrip('/')}/".startswith(f"{outer.rstrip('/')}/")
