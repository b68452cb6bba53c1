"""system.runtime.sessions: one row per open connection."""

from __future__ import annotations

from collections.abc import Iterable

from pinakes.system_tables.base import MOMENT, NUMBER, TEXT, TRUTH, Column, Request, SystemTable
from pinakes.system_tables.runtime_state import SessionInfo, visible


def _rows(request: Request) -> Iterable[SessionInfo]:
    return visible(request.context.runtime.sessions(), request.context.identity)


TABLE: SystemTable[SessionInfo] = SystemTable(
    name="sessions",
    doc="One row per open session: your own, or all sessions for an administrator.",
    columns=(
        Column("session_id", TEXT, "Id of the session", lambda s: s.session_id),
        Column("user", TEXT, "User of the session", lambda s: s.user),
        Column("source", TEXT, "Client program; NULL if unknown", lambda s: s.source or None),
        Column("catalog_name", TEXT, "Current catalog", lambda s: s.catalog),
        Column("schema_name", TEXT, "Current schema; nested schemas are joined with dots", lambda s: s.schema or None),
        Column("created", MOMENT, "Start time", lambda s: s.created),
        Column("running_queries", NUMBER, "Number of running statements", lambda s: s.running),
        Column("is_current", TRUTH, "Whether it is the current session", lambda s: s.is_this),
    ),
    items=_rows,
)
