"""system.runtime.caches: one row per cache of the engine. SHOW CACHES has the same rows."""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa

from pinakes.caches.cache import CacheStats
from pinakes.system_tables.base import NUMBER, TEXT, Column, Request, SystemTable

REAL = pa.float64()


def _rows(request: Request) -> Iterable[CacheStats]:
    return request.context.runtime.caches()


TABLE: SystemTable[CacheStats] = SystemTable(
    name="caches",
    doc="One row per cache of the engine, with its contents and counters since the start.",
    columns=(
        Column("cache_name", TEXT, "Name of the cache, as in the configuration", lambda c: c.name),
        Column("entries", NUMBER, "Number of entries", lambda c: c.entries),
        Column(
            "bytes", NUMBER, "Memory of the entries in bytes; an estimate if the unit is entries", lambda c: c.bytes
        ),
        Column("capacity", NUMBER, "Capacity of the cache", lambda c: c.capacity),
        Column("unit", TEXT, "Unit of the capacity: bytes or entries", lambda c: c.unit),
        Column("ttl_seconds", REAL, "Time to live of entries in seconds; 0 for no limit", lambda c: c.ttl),
        Column("hits", NUMBER, "Number of hits", lambda c: c.hits),
        Column("misses", NUMBER, "Number of misses", lambda c: c.misses),
        Column("evictions", NUMBER, "Number of evicted entries", lambda c: c.evictions),
        Column("loads", NUMBER, "Number of loads", lambda c: c.loads),
        Column("failures", NUMBER, "Number of failed loads", lambda c: c.failures),
        Column("load_seconds", REAL, "Total time of all loads in seconds", lambda c: c.load_seconds),
    ),
    items=_rows,
)
