"""What a cache tells of itself: a row of system.runtime.caches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class CacheStats:
    """What a cache holds now and has done since it was made."""

    name: str
    entries: int
    bytes: int
    """The memory that the entries take, as far as it is known."""
    capacity: int
    unit: Literal["bytes", "entries"]
    """What `capacity` counts."""
    ttl: float
    hits: int
    misses: int
    loads: int
    failures: int
    load_seconds: float
    evictions: int
