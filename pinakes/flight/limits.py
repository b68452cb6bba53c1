"""Limits per user: length of a statement, number of pending results, number of sessions.

The values come from `[server.statements]` of the configuration. The number of running statements is limited in
`engine/execution/admission.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pinakes.core.errors import InvalidArgument, ServerBusy
from pinakes.core.serving import StatementLimits

if TYPE_CHECKING:
    from pinakes.flight.connections import Connection
    from pinakes.flight.handle_registry import HandleRegistry
    from pinakes.flight.service import RequestContext


def check_text(sql: str, limits: StatementLimits) -> None:
    if limits.text_size and len(sql) > limits.text_size:
        raise InvalidArgument(
            f"the statement has {len(sql):,} characters, and this server takes {limits.text_size:,} at most "
            f"(text_size): give values as parameters, or ingest rows"
        )


def check_results(ask: RequestContext) -> None:
    """Checks the number of pending results before a statement runs."""
    waiting, most = ask.service.parked.count(ask.user), ask.service.statements.results_per_user
    if waiting >= most:
        raise ServerBusy(
            f"{waiting} results of yours wait to be fetched, the most that may (results_per_user): fetch them, or "
            f"close their cursors, before you ask for more. Nothing was done."
        )


def make_room(connections: HandleRegistry[Connection], user: str, limits: StatementLimits) -> None:
    """Makes room for a new session by closing the user's least recently used idle one, if necessary. Clients rarely
    close their sessions, so many are abandoned."""
    if connections.count(user) >= limits.sessions_per_user and not connections.drop_oldest(user, _is_idle):
        raise ServerBusy(
            f"you have {limits.sessions_per_user} sessions on this server that run something or have a transaction, "
            f"the most that a user may (sessions_per_user): end some"
        )


def _is_idle(connection: Connection) -> bool:
    session = connection.session
    return session.transaction is None and all(query.ended is not None for query in session.running)
