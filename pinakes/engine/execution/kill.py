"""Cancels the statement of a user, for KILL and for system.runtime.kill_query. The guard decides who may."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pinakes.core.errors import NotFoundError

if TYPE_CHECKING:
    from pinakes.engine.session import Session


def kill_query(session: Session, query_id: str, message: str | None = None) -> None:
    """Cancel it. Another user's statement does not exist for a user who cannot see it in system.runtime.queries."""
    query = session.engine.tracker.running(query_id)
    if query is None or not session.guard.may_stop(query.user):
        raise NotFoundError(f"no query '{query_id}' is running")
    query.cancel(f"killed by {session.identity.user}" + (f": {message}" if message else ""))
