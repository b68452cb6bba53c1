"""system.runtime.sessions: one row per open connection."""

from __future__ import annotations

from collections.abc import Iterable

from pinakes.system_tables.base import MOMENT, NUMBER, TEXT, TRUTH, Column, Request, SystemTable
from pinakes.system_tables.runtime_state import SessionInfo, visible


def _rows(request: Request) -> Iterable[SessionInfo]:
    return visible(request.world.runtime.sessions(), request.world.identity)


TABLE: SystemTable[SessionInfo] = SystemTable(
    name="sessions",
    doc="One row per open session: your own, or everybody's for an administrator.",
    columns=(
        Column("session_id", TEXT, "Id of the session", lambda s: s.session_id),
        Column("user", TEXT, "User whose session it is", lambda s: s.user),
        Column("source", TEXT, "Program that opened it; NULL when that did not say", lambda s: s.source or None),
        Column("catalog_name", TEXT, "Its current catalog", lambda s: s.catalog),
        Column("schema_name", TEXT, "Its current schema; nested ones joined by dots", lambda s: s.schema or None),
        Column("created", MOMENT, "When it was opened", lambda s: s.created),
        Column("running_queries", NUMBER, "Statements of it that run now", lambda s: s.running),
        Column("is_current", TRUTH, "Whether it is the one that asks", lambda s: s.is_this),
    ),
    items=_rows,
)
