"""The caches of immutable files, by path: manifests and Parquet footers; only memory bounds them.

A path comes from the metadata of a table. Metadata can be forged, so knowing a path gives no right to files of an
object store, which are read with credentials: for these each user has separate entries (`of`).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from copy import copy
from typing import ClassVar, Protocol, Self, TypeVar, cast

from pinakes.caches.cache import Cache, CacheStats, Clock
from pinakes.caches.memory import Budget
from pinakes.config.model import SizedCacheConfig


class Sized(Protocol):
    """The interface that the cache needs from a value: its memory size."""

    @property
    def nbytes(self) -> int: ...


T = TypeVar("T", bound=Sized)


class FileCache:
    """Values by kind, path and reader. The reader is empty for local files, which the process reads for all users."""

    NAME: ClassVar[str]

    def __init__(self, config: SizedCacheConfig, clock: Clock = time.monotonic, budget: Budget | None = None) -> None:
        self._reader = ""
        self.cache: Cache[tuple[str, str, str], Sized] = Cache(
            self.NAME, config.max_bytes, config.ttl, weigh=lambda value: value.nbytes, clock=clock, budget=budget
        )

    def of(self, reader: str) -> Self:
        """Returns a view of the same cache for one user."""
        seen = copy(self)
        seen._reader = reader
        return seen

    def get(self, kind: str, path: str, load: Callable[[], T], *, own: bool = False) -> T:
        """`own` is for what was made of more than one file: of these each user has entries of their own."""
        is_local = not own and ("://" not in path or path.startswith("file:"))
        return cast(T, self.cache.get((kind, path, "" if is_local else self._reader), load))

    def stats(self) -> CacheStats:
        return self.cache.stats()


class ManifestCache(FileCache):
    NAME: ClassVar[str] = "manifests"


class FooterCache(FileCache):
    NAME: ClassVar[str] = "footers"
