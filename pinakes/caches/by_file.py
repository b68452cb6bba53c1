"""What was made of files that never change, by their path: memory alone bounds it. `manifests.py` and `footers.py` are
such caches.

Whoever asks has found a path in the metadata of a table. Metadata may be made by hand, so that alone gives no right to
files of an object store, which are read with keys: of these each user has entries of their own (`of`).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from copy import copy
from typing import ClassVar, Protocol, Self, TypeVar, cast

from pinakes.caches.base import Cache, CacheStats, Clock
from pinakes.caches.budget import Budget
from pinakes.core.config import SizedCacheConfig


class Sized(Protocol):
    """What the cache needs to know of a value: the memory that it takes."""

    @property
    def nbytes(self) -> int: ...


T = TypeVar("T", bound=Sized)


class FileCache:
    """A key is what was made of a file, its path, and who read it; nobody where the process reads for all."""

    NAME: ClassVar[str]

    def __init__(self, config: SizedCacheConfig, clock: Clock = time.monotonic, budget: Budget | None = None) -> None:
        self._reader = ""
        self.cache: Cache[tuple[str, str, str], Sized] = Cache(
            self.NAME, config.max_bytes, config.ttl, weigh=lambda value: value.nbytes, clock=clock, budget=budget
        )

    def of(self, reader: str) -> Self:
        """The same cache as this user sees it."""
        seen = copy(self)
        seen._reader = reader
        return seen

    def get(self, kind: str, path: str, load: Callable[[], T], *, own: bool = False) -> T:
        """`own` is for what was made of more than one file: of these each user has entries of their own."""
        is_local = not own and ("://" not in path or path.startswith("file:"))
        return cast(T, self.cache.get((kind, path, "" if is_local else self._reader), load))

    def stats(self) -> CacheStats:
        return self.cache.stats()
