"""A running server with its parts: engine, listener, statement log, health and metrics.

The command line creates one, forwards signals to it, and closes it.
"""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from types import TracebackType
from urllib.parse import urlsplit

from pinakes.api.build import open_engine
from pinakes.api.reload import Reloaded, reload_config
from pinakes.config.model import Config
from pinakes.config.server import ServerConfig
from pinakes.config.serving import MetricsConfig
from pinakes.core.errors import ConfigError
from pinakes.engine.catalogs.authorization.policy import Policy
from pinakes.engine.execution.admission import Admission
from pinakes.engine.execution.memory_watch import MemoryWatch
from pinakes.flight.server import Certificates, FlightSqlServer
from pinakes.server.endpoints import Endpoints
from pinakes.server.ledger import Ledger
from pinakes.server.logins.base import Authenticator
from pinakes.server.logins.build import authenticator_of
from pinakes.server.logs import StatementLog, set_up
from pinakes.server.metrics import Held, exposition

REBIND_SECONDS = 10.0
"""Maximum seconds until the port is free when certificates are replaced; usually milliseconds."""


class Running:
    def __init__(
        self,
        config: Config,
        address: str,
        authenticator: Authenticator,
        certificates: Certificates | None,
        metrics: MetricsConfig,
    ) -> None:
        set_up(config.log)
        self._authenticator, self._certificates = authenticator, certificates
        self._engine = open_engine(config, Policy(config.access.everybody_may, config.access.outbound))
        try:
            self._engine.admission = Admission(config.server.statements)
            ledger = Ledger()
            self._engine.tracker.add_listener(ledger.note)
            self._server = self._listening(address)
            self._location = f"{address.rpartition(':')[0]}:{self._server.port}"
            self._log = StatementLog(ledger)
            self._memory = MemoryWatch(config.server.limits.process_memory, self._engine.tracker.alive)
            self._memory.start()
            self._endpoints = self._open_endpoints(metrics, ledger)
        except BaseException:
            self._engine.close()
            raise

    def _listening(self, address: str, after: FlightSqlServer | None = None) -> FlightSqlServer:
        return FlightSqlServer(
            self._engine,
            address,
            self._authenticator,
            certificates=self._certificates,
            administrators=self._engine.config.server.logins.administrators,
            after=after,
        )

    def _open_endpoints(self, metrics: MetricsConfig, ledger: Ledger) -> Endpoints | None:
        if not metrics.enabled:
            return None
        page = exposition(self._engine, ledger, lambda: Held(**self._server.held()))
        try:
            return Endpoints(metrics, self._why_not_ready, page)
        except ConfigError:
            self._server.close()
            raise

    def _why_not_ready(self) -> str | None:
        return "the server is shutting down" if self._server.stops else None

    @property
    def port(self) -> int:
        return int(self._server.port)

    @property
    def metrics_address(self) -> str | None:
        return None if self._endpoints is None else self._endpoints.address

    @property
    def drain_time(self) -> float:
        return self._engine.config.server.limits.drain_time

    def reload(self, config: Config, certificates: Certificates | None) -> str:
        """Applies users, privileges, catalogs, secrets, limits and certificates of a new configuration. Returns a
        description of the changes."""
        old = self._engine.config
        changed = changed_users(old.server, config.server)
        authenticator = authenticator_of(config.server)
        self._check_same(authenticator, certificates)
        done = reload_config(self._engine, config)
        if config.access != old.access:
            self._engine.policy = Policy(config.access.everybody_may, config.access.outbound)
        self._server.admit_by(authenticator, config.server.logins.administrators, changed)
        self._authenticator = authenticator
        said = [] if done == Reloaded() else [str(done)]
        said += _user_changes(old, config, changed)
        if certificates is not None and certificates != self._certificates:
            self._replace_listener(certificates)
            said.append("certificates changed")
        return "; ".join(said) or "nothing has changed"

    def _check_same(self, authenticator: Authenticator, certificates: Certificates | None) -> None:
        if authenticator.is_open != self._authenticator.is_open:
            raise ConfigError("whether there is authentication at all is decided at the start: restart the server")
        before = self._certificates
        if (certificates is None) != (before is None):
            raise ConfigError("whether there is TLS is decided at the start: restart the server")
        if certificates is not None and before is not None and certificates.are_users != before.are_users:
            raise ConfigError("whether certificates say who calls is decided at the start: restart the server")

    def _replace_listener(self, certificates: Certificates) -> None:
        """Replaces the listener, since Arrow's server can't change its certificate. The old one stops listening and
        finishes its running calls; clients notice a new TCP connection at most."""
        old = self._server
        threading.Thread(target=old.shutdown, name="pinakes-flight-retire", daemon=True).start()
        _wait_for_port(self._location)
        self._certificates = certificates
        self._server = self._listening(self._location, after=old)

    def drain(self, abort: threading.Event) -> int:
        """Stops accepting statements and waits for running ones; returns how many are left."""
        return self._server.drain(self.drain_time, abort)

    def close(self) -> bool:
        """Closes the server. Returns whether all calls ended; otherwise the process can't exit normally, since Arrow
        waits for its server."""
        self._memory.close()
        all_ended = self._server.close()
        if self._endpoints is not None:
            self._endpoints.close()
        self._engine.close()
        self._log.close()
        return all_ended

    def __enter__(self) -> Running:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None:
            self.close()


def changed_users(old: ServerConfig, new: ServerConfig) -> set[str] | None:
    """Returns the users whose logins end; None means all, after a change of the users file's path or of the
    OpenID Connect section. Changes within the users file take effect with each call."""
    if (old.logins.users_file, old.oidc) != (new.logins.users_file, new.oidc):
        return None
    changed = set()
    for before, now in ((old.users, new.users), (old.tokens, new.tokens)):
        changed |= {name for name in {*before, *now} if before.get(name) != now.get(name)}
    return changed


def _user_changes(old: Config, new: Config, changed: set[str] | None) -> Iterator[str]:
    if changed is None:
        yield "other ways to log in"
    elif changed:
        yield f"users changed: {', '.join(sorted(changed))}"
    if old.server.logins.administrators != new.server.logins.administrators:
        yield "administrators changed"
    if old.access != new.access:
        yield "access changed"


def _wait_for_port(location: str) -> None:
    parts = urlsplit(location)
    until = time.monotonic() + REBIND_SECONDS
    family, kind, protocol, _, address = socket.getaddrinfo(parts.hostname, parts.port, type=socket.SOCK_STREAM)[0]
    while time.monotonic() < until:
        with socket.socket(family, kind, protocol) as trial, suppress(OSError):
            trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            trial.bind(address)
            return
        time.sleep(0.002)
