"""Limits per user: length of a statement, number of pending results, number of sessions.

The values come from `[server.statements]` of the configuration. The number of running statements is limited in
`engine/execution/admission.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pinakes.config.serving import StatementLimits
from pinakes.core.errors import InvalidArgument, ServerBusy

if TYPE_CHECKING:
    from pinakes.server.connections import Connection
    from pinakes.server.handle_registry import HandleRegistry
    from pinakes.server.service import RequestContext


def check_text(sql: str, limits: StatementLimits) -> None:
    if limits.text_size and len(sql) > limits.text_size:
        raise InvalidArgument(
            f"the statement has {len(sql):,} characters (limit text_size: {limits.text_size:,}): pass values as "
            f"parameters, or ingest rows"
        )


def check_results(request: RequestContext) -> None:
    """Checks the number of pending results before a statement runs."""
    waiting, most = request.service.pending.count(request.user), request.service.statements.results_per_user
    if waiting >= most:
        raise ServerBusy(
            f"too many unfetched results ({waiting}; limit results_per_user): fetch them or close their cursors first. "
            f"Nothing was done."
        )


def make_room(connections: HandleRegistry[Connection], user: str, limits: StatementLimits) -> None:
    """Makes room for a new session by closing the user's least recently used idle one, if necessary. Clients rarely
    close their sessions, so many are abandoned."""
    if connections.count(user) >= limits.sessions_per_user and not connections.drop_oldest(user, _is_idle):
        raise ServerBusy(
            f"too many busy sessions of this user ({limits.sessions_per_user}; limit sessions_per_user): end some"
        )


def _is_idle(connection: Connection) -> bool:
    session = connection.session
    return session.transaction is None and all(query.ended is not None for query in session.running)
