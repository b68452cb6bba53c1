"""system.runtime.transactions: one row per open transaction (BEGIN … COMMIT)."""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa

from pinakes.system_tables.base import MOMENT, NUMBER, TEXT, TRUTH, Column, Request, SystemTable
from pinakes.system_tables.runtime_state import TransactionInfo, visible


def _rows(request: Request) -> Iterable[TransactionInfo]:
    return visible(request.context.runtime.transactions(), request.context.identity)


TABLE: SystemTable[TransactionInfo] = SystemTable(
    name="transactions",
    doc="One row per open transaction over several statements: your own, or those of all users for an "
    "administrator. Statements outside of a transaction are not included.",
    columns=(
        Column("transaction_id", TEXT, "Id of the transaction", lambda t: t.transaction_id),
        Column("isolation_level", TEXT, "Isolation level of the transaction", lambda t: t.isolation_level),
        Column("read_only", TRUTH, "Whether the transaction is read-only", lambda t: t.read_only),
        Column(
            "auto_commit_context", TRUTH, "Whether the transaction commits automatically; always false", lambda t: False
        ),
        Column("create_time", MOMENT, "Start time", lambda t: t.created),
        Column("idle_time_secs", NUMBER, "Seconds since the end of the last statement", lambda t: t.idle_seconds),
        Column(
            "written_catalog", TEXT, "Catalog that the transaction changes; NULL if none", lambda t: t.written_catalog
        ),
        Column("catalogs", pa.list_(TEXT), "Catalogs that the transaction uses", lambda t: list(t.catalogs)),
        Column("user", TEXT, "User of the transaction", lambda t: t.user),
    ),
    items=_rows,
)
