"""Manifests of Iceberg tables by their path, as the scan reads them. They never change: memory alone bounds them."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Protocol, TypeVar, cast

from pinakes.caches.base import Cache, CacheStats, Clock
from pinakes.core.config import SizedCacheConfig


class Sized(Protocol):
    """What the cache needs to know of a value: the memory that it takes."""

    @property
    def nbytes(self) -> int: ...


T = TypeVar("T", bound=Sized)


class ManifestCache:
    """What was read from the files of a table's metadata; a key is the kind of a file and its path."""

    def __init__(self, config: SizedCacheConfig, clock: Clock = time.monotonic) -> None:
        self.cache: Cache[tuple[str, str], Sized] = Cache(
            "manifests", config.size, config.ttl, weigh=lambda value: value.nbytes, clock=clock
        )

    def get(self, kind: str, path: str, load: Callable[[], T]) -> T:
        return cast(T, self.cache.get((kind, path), load))

    def stats(self) -> CacheStats:
        return self.cache.stats()
