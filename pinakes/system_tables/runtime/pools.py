"""system.runtime.pools: bounded resources: memory, and the threads that call catalogs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from pinakes.system_tables.base import NUMBER, TEXT, Column, Request, SystemTable
from pinakes.system_tables.listing import catalogs


class Pool(NamedTuple):
    kind: str
    catalog: str | None
    unit: str
    capacity: int
    in_use: int | None
    waiting: int | None


def _rows(request: Request) -> Iterator[Pool]:
    world = request.world
    if request.wanted.values("catalog") is None:
        yield Pool("memory", None, "bytes", world.runtime.node().memory_limit, None, None)
    for mount in catalogs(request):
        if not mount.is_system:
            busy = world.lanes.busy(mount.lane)
            yield Pool("metadata", mount.name, "calls", world.lanes.width, busy.running, busy.waiting)


TABLE: SystemTable[Pool] = SystemTable(
    name="pools",
    doc="One row per thing that is shared out in bounded amounts: the memory of all queries, and for each catalog the "
    "calls that your queries of system tables make at the same time.",
    columns=(
        Column("pool_type", TEXT, "memory or metadata", lambda p: p.kind),
        Column("catalog_name", TEXT, "Catalog that it is for; NULL for all", lambda p: p.catalog, level="catalog"),
        Column("unit", TEXT, "What is counted: bytes or calls", lambda p: p.unit),
        Column("capacity", NUMBER, "How much there is", lambda p: p.capacity),
        Column("in_use", NUMBER, "How much of it is in use; NULL when that is not told", lambda p: p.in_use),
        Column("waiting", NUMBER, "How many wait for some; NULL when that is not told", lambda p: p.waiting),
    ),
    items=_rows,
)
