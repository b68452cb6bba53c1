"""What sessions may see of tables that change, as the rules of `cache_rules.py` follow them: rows by name and time."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import product

from pinakes.config.model import CachesConfig

TTL = CachesConfig().table_metadata.ttl

Seen = frozenset[int] | None
"""The rows of a table; None when there is none of the name."""


@dataclass
class Past:
    """All that a table was, and from when on it may be seen by nobody as it was before."""

    states: list[tuple[float, Seen]] = field(default_factory=lambda: [(-1e9, None)])
    floor: int = 0

    @property
    def now(self) -> Seen:
        return self.states[-1][1]

    @property
    def version(self) -> int:
        return len(self.states)

    def becomes(self, seen: Seen, when: float, *, ours: bool) -> None:
        self.states.append((when, seen))
        if ours:
            self.floor = len(self.states) - 1

    def allowed(self, when: float) -> set[Seen]:
        due = max(i for i, (at, _) in enumerate(self.states) if at <= when - TTL)
        return {seen for _, seen in self.states[max(due, self.floor) :]}

    def was_dropped_since(self, version: int) -> bool:
        return any(seen is None for _, seen in self.states[version:])


def together(*each: set[Seen]) -> set[Seen]:
    """What a query over several tables may see: all rows of each; nothing if one of them is not there."""
    return {
        None if None in chosen else frozenset().union(*(seen for seen in chosen if seen is not None))
        for chosen in product(*each)
    }


@dataclass
class Pinned:
    """A table within a transaction: as it was at its first use, and what the transaction made of it."""

    past: Past
    seen: Seen
    version: int
    is_changed: bool = False

    @property
    def is_overtaken(self) -> bool:
        """Somebody else changed it meanwhile."""
        return self.past.version != self.version


@dataclass
class Open:
    """A transaction that has begun."""

    pinned: dict[tuple[str, str], Pinned] = field(default_factory=dict)
    """By mount and table: each mount is a catalog of its own to it."""

    def pin(self, mount: str, table: str, past: Past) -> Pinned:
        return self.pinned.setdefault((mount, table), Pinned(past, past.now, past.version))

    @property
    def changed_mount(self) -> str | None:
        return next((mount for (mount, _), pinned in self.pinned.items() if pinned.is_changed), None)

    @property
    def changed(self) -> list[Pinned]:
        return [pinned for pinned in self.pinned.values() if pinned.is_changed]
