"""Where a shell may sit, for tests that hold at any seat: at an engine in this process, or at one behind a server."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from pinakes.api.build import open_engine
from pinakes.api.local_shell_backend import LocalShellBackend
from pinakes.api.shell_backend import ShellBackend
from pinakes.client.address import Address
from pinakes.client.login import Login
from pinakes.client.shell_backend import RemoteShellBackend
from pinakes.config.model import parse_config
from pinakes.flight.server import FlightSqlServer
from pinakes.server.logins.base import Anybody

SEATS = ("embedded", "remote")


@contextmanager
def seated(where: str, directory: Path) -> Iterator[ShellBackend]:
    """A seat at an engine of its own."""
    with open_engine(parse_config("[engine]\ndata = ':memory:'", directory)) as engine:
        if where == "embedded":
            yield LocalShellBackend(engine.session())
            return
        with (
            closing(FlightSqlServer(engine, "grpc://127.0.0.1:0", Anybody())) as server,
            closing(RemoteShellBackend(Address.of(f"grpc://127.0.0.1:{server.port}"), Login())) as backend,
        ):
            yield backend
