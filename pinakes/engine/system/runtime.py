"""The engine's own state as read by the tables of system.runtime."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from pinakes.core import machine
from pinakes.core.access.redaction import about
from pinakes.core.names import dotted
from pinakes.core.version import __version__
from pinakes.engine.catalogs.global_settings import all_settings
from pinakes.engine.catalogs.secrets import ref_of
from pinakes.system_tables.runtime.tasks import LOCAL
from pinakes.system_tables.runtime_state import NodeInfo, SecretInfo, SessionInfo, TaskInfo, TransactionInfo

if TYPE_CHECKING:
    from pinakes.caches.cache import CacheStats
    from pinakes.config.settings import SettingRow
    from pinakes.core.secrets import Secret
    from pinakes.engine.execution.query_info import QueryInfo
    from pinakes.engine.session import Session
    from pinakes.engine.transactions.transaction import Transaction


@dataclass(frozen=True, slots=True)
class Runtime:
    """The engine's state as one session may see it."""

    session: Session

    def queries(self) -> Sequence[QueryInfo]:
        found = self.session.engine.tracker.snapshot()
        return found if self.session.identity.is_admin else [_redacted(query) for query in found]

    def sessions(self) -> list[SessionInfo]:
        return [self._session_info(session) for session in self.session.engine.sessions()]

    def transactions(self) -> Sequence[TransactionInfo]:
        open_ones = [(s.identity.user, s.transaction) for s in self.session.engine.sessions()]
        return [_transaction(user, t) for user, t in open_ones if t is not None]

    def caches(self) -> list[CacheStats]:
        return self.session.engine.caches.stats()

    def settings(self) -> list[SettingRow]:
        return all_settings(self.session)

    def secrets(self) -> list[SecretInfo]:
        found = self.session.engine.secrets.visible(self.session.identity)
        return [SecretInfo(s.name, s.type, s.scope, s.shared, self._users(s)) for s in found]

    def node(self) -> NodeInfo:
        engine = self.session.engine
        return NodeInfo(LOCAL, __version__, engine.started, machine.processors(), engine.config.engine.memory_limit)

    def other_nodes(self) -> list[NodeInfo]:
        remote = self.session.engine.started_remote
        found = [] if remote is None else remote.nodes()
        return [
            NodeInfo(n.node_id, n.version, n.started, n.processors, n.memory_limit, n.state, coordinator=False)
            for n in found
        ]

    def other_tasks(self) -> list[TaskInfo]:
        remote = self.session.engine.started_remote
        return [] if remote is None else [TaskInfo(*task) for task in remote.tasks()]

    def _session_info(self, session: Session) -> SessionInfo:
        scope, running = session.scope, sum(1 for query in list(session.running) if query.ended is None)
        place = (scope.catalog, dotted(scope.namespace))
        is_this = session is self.session
        return SessionInfo(
            session.session_id, session.identity.user, session.source, *place, session.created, running, is_this
        )

    def _users(self, secret: Secret) -> tuple[str, ...]:
        ref = ref_of(secret)
        return tuple(mounted.name for mounted in self.session.catalogs.attached() if ref in mounted.mount.secrets)


def _redacted(query: QueryInfo) -> QueryInfo:
    """Returns the query with the error message as shown to the user who ran it."""
    message = query.error_message
    return query if message is None else replace(query, error_message=about(query.error_code or "", message))


def _transaction(user: str, of: Transaction) -> TransactionInfo:
    return TransactionInfo(
        of.transaction_id,
        user,
        "SNAPSHOT",
        read_only=of.read_only,
        created=of.created,
        idle_seconds=int((datetime.now(UTC) - of.last_used).total_seconds()),
        written_catalog=of.written_catalog,
        catalogs=tuple(of.catalogs),
    )
