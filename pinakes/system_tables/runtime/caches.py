"""system.runtime.caches: one row per cache of the engine. SHOW CACHES has the same rows."""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa

from pinakes.caches.base import CacheStats
from pinakes.system_tables.base import NUMBER, TEXT, Column, Request, SystemTable

REAL = pa.float64()


def _rows(request: Request) -> Iterable[CacheStats]:
    return request.world.runtime.caches()


TABLE: SystemTable[CacheStats] = SystemTable(
    name="caches",
    doc="One row per cache of the engine, with what it holds and has done since the engine was started.",
    columns=(
        Column("cache_name", TEXT, "Name of the cache, as in the configuration", lambda c: c.name),
        Column("entries", NUMBER, "Entries that it holds", lambda c: c.entries),
        Column("bytes", NUMBER, "Memory that they take; an estimate where entries are counted", lambda c: c.bytes),
        Column("capacity", NUMBER, "How much it may hold", lambda c: c.capacity),
        Column("unit", TEXT, "What the capacity counts: bytes or entries", lambda c: c.unit),
        Column("ttl_seconds", REAL, "Seconds that an entry is kept for; 0 is until it has to go", lambda c: c.ttl),
        Column("hits", NUMBER, "Times that it had what it was asked for", lambda c: c.hits),
        Column("misses", NUMBER, "Times that it had not", lambda c: c.misses),
        Column("evictions", NUMBER, "Entries that had to go for others", lambda c: c.evictions),
        Column("loads", NUMBER, "Times that an entry was loaded", lambda c: c.loads),
        Column("failures", NUMBER, "Loads that failed", lambda c: c.failures),
        Column("load_seconds", REAL, "Seconds that loads took, all together", lambda c: c.load_seconds),
    ),
    items=_rows,
)
