"""Clients that are killed (-9) at every step of the protocol: nothing of theirs is done by half, runs on or is held."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from pinakes.api.build import open_engine
from pinakes.config.model import load_config
from pinakes.engine.execution.admission import Admission
from pinakes.flight.server import FlightSqlServer
from pinakes.server.logins.base import Anybody
from pinakes.server.service import LINGER
from tests.flight import leaving_client
from tests.flight.serving import Serving, eventually
from tests.flight.test_operations import figures, rows
from tests.flight.test_protocol import Client

SPARE = 8
"""Threads more or less that gRPC and DataFusion keep for what comes next."""


def come_and_be_killed(server: Serving) -> None:
    """A client for each step; all are killed once each is where it should be."""
    command = [sys.executable, "-m", leaving_client.__name__, server.uri]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as clients:
        try:
            assert clients.stdout is not None
            assert clients.stdout.readline() == "there\n"
        finally:
            clients.kill()


@pytest.mark.slow
def test_clients_that_are_killed_at_every_step(server: Serving) -> None:
    with server.connect() as connection:
        rows(connection, "CREATE TABLE sink (n BIGINT)")
        come_and_be_killed(server)
        assert eventually(lambda: figures(server)["pinakes_flight_calls"] == 0), "a call goes on"
        threads = server.threads()
        come_and_be_killed(server)
        assert eventually(lambda: figures(server)["pinakes_flight_calls"] == 0), "a call goes on"
        assert eventually(lambda: server.threads() <= threads + SPARE), "threads stay"
        # Those that wait to be fetched are the only ones alive, and nobody computes anything for them.
        assert eventually(lambda: _alive(server) == {"asks", "is_a_shell"}), _alive(server)
        assert rows(connection, "SELECT n FROM sink") == []
        assert rows(connection, "SHOW TABLES LIKE 'never'") == []
        assert rows(connection, "SELECT 41 + 1") == [(42,)]
    assert "Traceback" not in server.output
    assert server.process.poll() is None


def _alive(server: Serving) -> set[str]:
    """The steps whose statements are not over."""
    wanted = {"SELECT value FROM range": "asks", "SELECT value - 1": "is_a_shell"}
    with server.connect() as connection:
        found = rows(connection, 'SELECT query FROM system.runtime.queries WHERE "end" IS NULL')
    texts = [str(text) for (text,) in found if "system.runtime" not in str(text)]
    return {next((step for begin, step in wanted.items() if text.startswith(begin)), text) for text in texts}


# --- results that nobody fetches -----------------------------------------------------------------------------------


@pytest.fixture
def crowded(tmp_path: Path) -> Iterator[FlightSqlServer]:
    """A server in this process that runs one statement at a time."""
    config = load_config(data=str(tmp_path))
    with open_engine(config) as engine:
        engine.admission = Admission(config.server.statements)
        server = FlightSqlServer(engine, "grpc://127.0.0.1:0", Anybody())
        yield server
        server.close()


def test_a_result_whose_client_has_gone_gives_its_place_back(crowded: FlightSqlServer) -> None:
    service = crowded._service
    admission = service.engine.admission
    assert admission is not None
    client = Client(f"grpc://127.0.0.1:{crowded.port}")
    client.info("CommandStatementQuery", query="SELECT value FROM range(100000000000)")
    assert admission.crowd().running == 1
    service._sweep_unfetched(time.monotonic() + LINGER + 1)
    assert len(service.pending) == 1, "its client is there"
    client.flight.close()
    assert eventually(lambda: not service._peers._sessions)
    service._sweep_unfetched(time.monotonic())
    assert len(service.pending) == 1, "its client might come back"
    service._sweep_unfetched(time.monotonic() + LINGER + 1)
    assert len(service.pending) == 0
    assert admission.crowd().running == 0
