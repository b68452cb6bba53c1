"""`pinakes serve`: serves Flight SQL clients until SIGTERM or Ctrl-C."""

from __future__ import annotations

import ipaddress
import os
import signal
import socket
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from pinakes.cli.subcommands.signals import Signals
from pinakes.config.serving import MetricsConfig
from pinakes.core.errors import ConfigError, PinakesError
from pinakes.core.output.terminal_text import printable

if TYPE_CHECKING:
    from pinakes.cli.subcommands.tls import Tls
    from pinakes.config.model import Config
    from pinakes.config.server import TlsConfig
    from pinakes.flight.running import Running
    from pinakes.flight.server import Certificates
    from pinakes.server.logins.base import Authenticator

SWITCH_SECONDS = 0.0005
HOST, PORT = "127.0.0.1", 31337


class Listening(NamedTuple):
    host: str
    port: int
    tls: Tls | None

    @classmethod
    def of(cls, host: str | None, port: int | None, tls: Tls | None) -> Listening:
        """Builds it from the arguments; raises ValueError if they are invalid."""
        if port is not None and not 0 <= port <= 65_535:
            raise ValueError(f"--port must be a number from 0 to 65535, not {port}")
        return cls(host or HOST, PORT if port is None else port, tls)

    def check_encrypted(self, config: TlsConfig) -> None:
        """Raises if passwords and tokens would cross a network unencrypted, unless the configuration allows it."""
        if self.tls is None and not self.is_local and not config.allow_plaintext:
            raise ConfigError(
                f"{self.host} is reachable from other machines, and there is no TLS: passwords and data could be read "
                f"on their way. Give --tls-cert and --tls-key (or [server.tls] certificate and key); behind a proxy "
                f"that ends TLS set allow_plaintext = true in [server.tls]."
            )

    @property
    def is_local(self) -> bool:
        """Whether only this machine can reach it."""
        if self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host.strip("[]")).is_loopback
        except ValueError:
            return False

    def check(self) -> None:
        """Raises OSError if the address is not available: gRPC would only log the reason."""
        family, kind, protocol, _, address = socket.getaddrinfo(self.host, self.port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind, protocol) as trial:
            trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            trial.bind(address)

    def address(self, port: int | None = None) -> str:
        scheme = "grpc" if self.tls is None else "grpc+tls"
        host = f"[{self.host}]" if ":" in self.host and not self.host.startswith("[") else self.host
        return f"{scheme}://{host}:{self.port if port is None else port}"


def serve(read: Callable[[], Config], listen: Callable[[Config], Listening], metrics_port: int | None = None) -> bool:
    """Listens until a signal arrives; returns whether the server could start. `read` returns the configuration and
    `listen` the address from configuration and arguments; both are called again on reload."""
    config = read()
    listening = listen(config)
    metrics = config.server.metrics
    if metrics_port is not None or (listening.port == 0 and metrics == MetricsConfig()):
        # A request for any free port applies to the metrics port, too.
        metrics = replace(metrics, port=metrics_port or 0)
    _prepare(config)
    try:
        from pinakes.flight.running import Running
        from pinakes.server.logins.build import authenticator_of
    except ImportError as error:
        _say(f"pinakes: serving needs {error.name}: pip install 'pinakes[server]'")
        return False
    try:
        authenticator = authenticator_of(config.server)
    except PinakesError as error:
        _say(f"pinakes: {error.render()}")
        return False
    if authenticator.is_open and not listening.is_local:
        _say(
            f"pinakes: without authentication it listens on this machine only, and {listening.host} is more. Name "
            f"users (`pinakes user add`, server.users_file), or leave out --host."
        )
        return False
    try:
        listening.check_encrypted(config.server.tls)
        listening.check()
    except PinakesError as error:
        _say(f"pinakes: {error.render()}")
        return False
    except OSError as error:
        _say(
            f"pinakes: can't listen on {listening.address()}: {error.strerror}. Choose another with --host and --port."
        )
        return False
    try:
        shown = _shown(listening, config)
        # Signals are handled before the greeting: its reader may send one immediately, and SIGHUP would end the
        # process.
        with Running(config, listening.address(), authenticator, shown, metrics) as running, Signals() as signals:
            _greet(listening.address(running.port), authenticator, running.metrics_address)
            _wait(signals, running, read, listen)
    except PinakesError as error:
        _say(f"pinakes: {error.render()}")
        return False
    return True


def _prepare(config: Config) -> None:
    """Sets options that must be set before libraries are loaded."""
    # Data from clients is not aligned in memory; Arrow warns about each such buffer unless it copies them.
    os.environ.setdefault("ACERO_ALIGNMENT_HANDLING", "reallocate")
    # DataFusion has one runtime for all queries, with as many threads as processors, and a join that computes for
    # seconds occupies one. More threads than all running statements can occupy keep one free for `select 1` (ADR 21).
    workers = config.server.limits.worker_threads
    if workers is None:
        workers = config.server.statements.workers(config.engine.target_partitions)
    os.environ.setdefault("TOKIO_WORKER_THREADS", str(workers))
    # Threads that plan or read manifests switch sooner than after Python's 5 ms: `select 1` needs the interpreter often
    # and briefly, and would wait that long each time.
    sys.setswitchinterval(SWITCH_SECONDS)
    _limit_arrow(config.server.limits.process_memory // 2)


def _limit_arrow(size: int) -> None:
    """Loads Arrow with a fixed reserve of memory. Arrow unpacks the compressed buffers of a message before the server
    sees it, and 600 KB can become 20 GB; what exceeds the reserve is refused instead.

    DataFusion has the same allocator, and must not read these variables: it ends the process if memory is refused.
    Where the system does not overcommit, the reserve would be taken at once.
    """
    overcommits = Path("/proc/sys/vm/overcommit_memory")
    if "pyarrow" in sys.modules or not overcommits.exists() or overcommits.read_text().strip() == "2":
        return
    limits = {"MIMALLOC_RESERVE_OS_MEMORY": f"{size >> 20}MiB", "MIMALLOC_DISALLOW_OS_ALLOC": "1"}
    if limits.keys() & os.environ.keys():
        return
    os.environ.update(limits)
    try:
        import pyarrow  # noqa: F401 - its allocator reads the variables when it is loaded
    finally:
        for name in limits:
            del os.environ[name]


def _shown(listening: Listening, config: Config) -> Certificates | None:
    from pinakes.flight.server import Certificates

    tls = listening.tls
    if tls is None:
        return None
    return Certificates(tls.certificate, tls.client_authorities, are_users=config.server.tls.certificate_user)


def _greet(address: str, authenticator: Authenticator, metrics: str | None) -> None:
    _say(f"Listening on {address} (Flight SQL). Ctrl-C stops it.")
    if metrics is not None:
        _say(f"Health and metrics: {metrics}/health, /ready, /metrics.")
    if authenticator.is_open:
        _say("There is no authentication: every user of this machine has your privileges.")
    elif not address.startswith("grpc+tls"):
        _say("There is no TLS: only clients on this machine, or a proxy that ends TLS, should reach this port.")


def _wait(
    signals: Signals, running: Running, read: Callable[[], Config], listen: Callable[[Config], Listening]
) -> None:
    """Waits for SIGTERM, which lets running statements finish, or SIGINT, which does not."""
    while (number := signals.next()) == signals.RELOAD:
        _reload(running, read, listen)
    if number == signal.SIGTERM and running.drain_time:
        _say(f"Stopping: what runs has {running.drain_time:g} s to end. A second signal ends it now.")
        signals.draining = True
        left = running.drain(signals.abort)
        signals.draining = False
        if left:
            _say(f"{left} {'statement is' if left == 1 else 'statements are'} stopped.")
    else:
        _say("Stopping.")
    if not running.close():
        os._exit(0)  # a client neither reads its rows nor disconnects, and Arrow would wait for it at exit


def _reload(running: Running, read: Callable[[], Config], listen: Callable[[Config], Listening]) -> None:
    """Reloads the configuration. Errors are reported, and the server continues unchanged."""
    try:
        config = read()
        said = running.reload(config, _shown(listen(config), config))
    except (PinakesError, ValueError) as error:
        _say(f"pinakes: not reloaded: {error.render() if isinstance(error, PinakesError) else error}")
        return
    _say(f"Reloaded: {said}.")


def _say(text: str) -> None:
    print(printable(text), file=sys.stderr, flush=True)  # noqa: T201
