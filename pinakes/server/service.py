"""The state of the server between calls: connections, prepared statements, transactions, pending results."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass

from pinakes.config.server_limits import ServerLimits
from pinakes.config.serving import StatementLimits
from pinakes.core.errors import InvalidArgument, PermissionDenied, ServerBusy
from pinakes.core.identity import Identity
from pinakes.engine.engine import Engine
from pinakes.engine.execution.memory_budget import MemoryBudget, Reservation
from pinakes.server.calls import Call
from pinakes.server.connections import Connection, PendingResult, Prepared, Transaction
from pinakes.server.handle_registry import HandleRegistry
from pinakes.server.limits import make_room
from pinakes.server.peers import Peers

LINGER = 60.0
"""Seconds to keep a session whose client may return with its cookie though it never sent one, and a result whose client
has disconnected."""
OVER = "the transaction was ended already, by a statement (COMMIT, ROLLBACK), and the session is in another one"


class Service:
    def __init__(self, engine: Engine, limits: ServerLimits) -> None:
        self.engine = engine
        self.connections: HandleRegistry[Connection] = HandleRegistry(
            "session",
            limits.session_idle,
            limits.most_sessions,
            lambda c: c.is_busy,
            lifetime=limits.session_age,
        )
        self.prepared: HandleRegistry[Prepared] = HandleRegistry(
            "prepared statement", limits.prepared_ttl, limits.most_prepared, lambda p: p.connection.is_busy
        )
        self.transactions: HandleRegistry[Transaction] = HandleRegistry(
            "transaction", limits.transaction_ttl, limits.most_transactions, lambda t: t.connection.is_busy
        )
        self.pending: HandleRegistry[PendingResult] = HandleRegistry("result", limits.result_ttl, limits.most_results)
        self.flowing: dict[bytes, PendingResult] = {}
        """Results that are being fetched, by handle."""
        self.limits = limits
        self.memory = engine.memory_budget = MemoryBudget(limits.client_memory_per_user, limits.client_memory)
        self.stops = False
        """Whether the server is shutting down and accepts no new statements."""
        self._peers = Peers()
        self._left: dict[bytes, float] = {}
        """Sessions whose client has disconnected, with the time when it was noticed."""
        self._absent: dict[str, float] = {}
        """Closed connections with pending results, with the time when it was noticed."""
        self._lock = threading.Lock()

    @property
    def statements(self) -> StatementLimits:
        """The limits of the current configuration."""
        return self.engine.config.server.statements

    def held(self) -> dict[str, int]:
        """Returns the number of objects of each kind."""
        return {
            "sessions": len(self.connections),
            "results": len(self.pending) + len(self.flowing),
            "prepared": len(self.prepared),
            "transactions": len(self.transactions),
        }

    def check_taking(self, connection: Connection) -> None:
        """Raises if the server is shutting down, except within a transaction, which may finish."""
        if self.stops and connection.session.transaction is None:
            raise ServerBusy("the server is shutting down: connect again in a moment, or to another server")

    def connection(self, identity: Identity, cookie: bytes | None, peer: str) -> tuple[Connection, bool]:
        """Returns the connection of a call, and whether it is new: the listener then sends its cookie to the client."""
        user = identity.user
        with self._lock:
            handle = cookie or self._peers.find(user, peer)
            found = self.connections.find(handle, user) if handle is not None else None
            if found is not None:
                found.keeps_cookies |= cookie is not None
                found.renew(identity)
                found.peer = peer
                return found, False
            if handle is not None and self.connections.owner(handle) is not None:
                raise PermissionDenied("the session belongs to another user: connect again without its cookie")
            make_room(self.connections, user, self.statements)
            made = Connection(self.engine.session(identity, source="flight"), peer=peer)
            handle = self.connections.put(made, made.cookie)
            if cookie is None:
                self._peers.put(user, peer, handle)
        return made, True

    def holder(self, connection: Connection) -> Transaction | None:
        """Returns the handle of the session's transaction; None if a BEGIN statement opened it."""
        return next((t for t in self.transactions.all() if t.connection is connection and t.is_open), None)

    def forget(self, connection: Connection) -> None:
        """Closes a connection and its handles."""
        self.prepared.remove_all(lambda p: p.connection is connection)
        self.transactions.remove_all(lambda t: t.connection is connection)
        self.connections.remove_all(lambda c: c is connection)

    def sweep(self) -> None:
        for kept in (self.pending, self.transactions, self.prepared, self.connections):
            kept.sweep()
        self._sweep_unfetched(time.monotonic())
        self._sweep_left(time.monotonic())

    def _sweep_unfetched(self, now: float) -> None:
        """Closes pending results whose client has disconnected: they hold slots that other statements wait for."""
        gone = self._peers.gone({pending.connection.peer for pending in self.pending.all()})
        self._absent = {peer: self._absent.get(peer, now) for peer in gone}
        over = {peer for peer, since in self._absent.items() if now - since > LINGER}
        if over:
            self.pending.remove_all(lambda pending: pending.connection.peer in over)

    def _sweep_left(self, now: float) -> None:
        """Closes sessions that no client can return to: the client sent no cookie and has disconnected, and no prepared
        statement or transaction refers to them."""
        held = {connection.cookie for connection in self.connections.all()}
        self._left |= dict.fromkeys(self._peers.sweep(), now)
        self._left = {handle: since for handle, since in self._left.items() if handle in held}
        led_to = {thing.connection.cookie for kept in (self.prepared, self.transactions) for thing in kept.all()}
        over = {handle for handle, since in self._left.items() if now - since > LINGER} - led_to
        if over:
            self.connections.remove_all(lambda c: c.cookie in over and not c.keeps_cookies and not c.is_busy)

    def close(self) -> None:
        for pending in list(self.flowing.values()):
            pending.cancel("the server is shutting down")
        for kept in (self.pending, self.transactions, self.prepared, self.connections):
            kept.remove_all()


@dataclass(frozen=True, slots=True)
class RequestContext:
    """The context of one call: service, identity of the caller, connection, and the watched call with its memory."""

    service: Service
    identity: Identity
    connection: Connection
    call: Call
    memory: Reservation

    @property
    def user(self) -> str:
        return self.identity.user

    def within(self, transaction: bytes | None) -> Connection:
        """Returns the connection of a transaction, or the call's own if none is given."""
        if not transaction:
            return self.connection
        found = self.service.transactions.get(transaction, self.user)
        with found.connection.lock:
            if not found.is_open:  # otherwise the statement would commit on its own
                if self.service.holder(found.connection) is not None:
                    raise InvalidArgument(OVER)
                found.take_up()
        return self._renewed(found.connection)

    def prepared(self, handle: bytes) -> Prepared:
        """Returns the prepared statement of a handle; it may belong to another connection of the user."""
        found = self.service.prepared.get(handle, self.user)
        if found.connection.session.is_closed:
            self.service.prepared.take(handle, self.user)
            raise self.service.prepared.unknown()
        self._renewed(found.connection)
        return found

    def _renewed(self, connection: Connection) -> Connection:
        """Sets the connection's identity to the privileges and the token of the current caller."""
        connection.renew(self.identity)
        return connection
