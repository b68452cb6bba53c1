"""The statistics of a cache: a row of system.runtime.caches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class CacheStats:
    """The current contents of a cache, and its counters since it was created."""

    name: str
    entries: int
    bytes: int
    """The memory of the entries, as far as it is known."""
    capacity: int
    unit: Literal["bytes", "entries"]
    """The unit of `capacity`."""
    ttl: float
    hits: int
    misses: int
    loads: int
    failures: int
    load_seconds: float
    evictions: int
