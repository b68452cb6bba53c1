"""Limits per user: length of a statement, number of pending results, number of sessions.

The values come from `[server.statements]` of the configuration. The number of running statements is limited in
`engine/execution/admission.py`, the memory in `engine/execution/memory_budget.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pinakes.caches.memory import size_of_statement
from pinakes.config.serving import StatementLimits
from pinakes.core.errors import InvalidArgument, ServerBusy

if TYPE_CHECKING:
    from pinakes.server.connections import Connection
    from pinakes.server.handle_registry import HandleRegistry
    from pinakes.server.service import RequestContext


REST_OF_MESSAGE = 1 << 20
"""Bytes of a message besides the text of a statement."""


def check_message(size: int, limits: StatementLimits) -> None:
    """Checks the bytes of a message without rows, before it is parsed: nothing in it is longer than a statement."""
    most = 4 * limits.text_size + REST_OF_MESSAGE  # a character has up to four bytes
    if limits.text_size and size > most:
        raise InvalidArgument(
            f"the message has {size:,} bytes, and one with a statement of text_size ({limits.text_size:,} characters) "
            f"has at most {most:,}: pass values as parameters, or ingest rows"
        )


def check_text(sql: str, request: RequestContext) -> None:
    """Checks the length of a statement, and reserves the memory that parsing it takes until the end of the call."""
    most = request.service.statements.text_size
    if most and len(sql) > most:
        raise InvalidArgument(
            f"the statement has {len(sql):,} characters (limit text_size: {most:,}): pass values as parameters, or "
            f"ingest rows"
        )
    request.memory.grow(size_of_statement(sql))


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
