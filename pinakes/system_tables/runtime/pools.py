"""system.runtime.pools: bounded resources: memory, and the threads that call catalogs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from pinakes.system_tables.base import NUMBER, TEXT, Column, Request, SystemTable
from pinakes.system_tables.catalog_metadata.listing import list_catalogs


class Pool(NamedTuple):
    kind: str
    catalog: str | None
    unit: str
    capacity: int
    in_use: int | None
    waiting: int | None


def _rows(request: Request) -> Iterator[Pool]:
    context = request.context
    if request.wanted.values("catalog") is None:
        yield Pool("memory", None, "bytes", context.runtime.node().memory_limit, None, None)
    for mount in list_catalogs(request):
        if not mount.is_system:
            busy = context.executor.busy(mount.executor_key)
            yield Pool("metadata", mount.name, "calls", context.executor.width, busy.running, busy.waiting)


TABLE: SystemTable[Pool] = SystemTable(
    name="pools",
    doc="One row per limited resource: the memory of all queries, and for each catalog the concurrent calls of your "
    "queries of system tables.",
    columns=(
        Column("pool_type", TEXT, "memory or metadata", lambda p: p.kind),
        Column("catalog_name", TEXT, "Catalog of the pool; NULL for all", lambda p: p.catalog, level="catalog"),
        Column("unit", TEXT, "Unit: bytes or calls", lambda p: p.unit),
        Column("capacity", NUMBER, "Capacity of the pool", lambda p: p.capacity),
        Column("in_use", NUMBER, "Amount in use; NULL if unknown", lambda p: p.in_use),
        Column("waiting", NUMBER, "Number of waiting requests; NULL if unknown", lambda p: p.waiting),
    ),
    items=_rows,
)
