"""system.runtime.transactions: one row per open transaction (BEGIN … COMMIT)."""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa

from pinakes.system_tables.base import MOMENT, NUMBER, TEXT, TRUTH, Column, Request, SystemTable
from pinakes.system_tables.runtime_state import TransactionInfo, visible


def _rows(request: Request) -> Iterable[TransactionInfo]:
    return visible(request.world.runtime.transactions(), request.world.identity)


TABLE: SystemTable[TransactionInfo] = SystemTable(
    name="transactions",
    doc="One row per open transaction over several statements: your own, or everybody's for an administrator. "
    "A statement outside of one is not a row here.",
    columns=(
        Column("transaction_id", TEXT, "Id of the transaction", lambda t: t.transaction_id),
        Column("isolation_level", TEXT, "What it sees of others", lambda t: t.isolation_level),
        Column("read_only", TRUTH, "Whether it may only read", lambda t: t.read_only),
        Column("auto_commit_context", TRUTH, "Whether its statement commits itself: never", lambda t: False),
        Column("create_time", MOMENT, "When it began", lambda t: t.created),
        Column("idle_time_secs", NUMBER, "Seconds since its last statement ended", lambda t: t.idle_seconds),
        Column("written_catalog", TEXT, "Catalog that it changes; NULL when none yet", lambda t: t.written_catalog),
        Column("catalogs", pa.list_(TEXT), "Catalogs that it uses", lambda t: list(t.catalogs)),
        Column("user", TEXT, "User whose it is", lambda t: t.user),
    ),
    items=_rows,
)
