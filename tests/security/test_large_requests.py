"""A client that is not logged in can't fill the memory of the server: gRPC receives a whole message of up to 4 GB
before the server sees the call, so the connection is closed."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import suppress

import pyarrow.flight as fl
import pytest

from pinakes.server import strangers
from pinakes.server.strangers import Strangers
from tests.flight.identities import configured, headers
from tests.flight.serving import Serving, apart, eventually
from tests.security.recording import EVE, USERS, run

LARGE = 8 << 20


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    with configured(tmp_path_factory.mktemp("large"), USERS) as running:
        yield running


def _send(client: fl.FlightClient, options: fl.FlightCallOptions, size: int) -> list[fl.Result]:
    return list(client.do_action(fl.Action("PinakesLook", b" " * size), options))


def test_a_client_without_a_login_is_disconnected(server: Serving) -> None:
    def is_disconnected() -> bool:
        with apart(server) as client, suppress(fl.FlightUnauthenticatedError, fl.FlightUnavailableError):
            _send(client, headers("wrong"), 25 * LARGE)
        return "was disconnected" in server.output

    assert eventually(is_disconnected)
    assert run(server, "SELECT 1", **EVE) == [(1,)]


def test_a_client_with_a_login_sends_more(server: Serving) -> None:
    before = server.output.count("was disconnected")
    with apart(server) as client:
        for _ in range(8):
            assert _send(client, headers("token-of-eve"), LARGE)
    assert server.output.count("was disconnected") == before


@pytest.fixture
def watched() -> Iterator[tuple[Strangers, socket.socket]]:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        found = Strangers(listening.getsockname()[1])
        found.close()  # the tests check by themselves
        try:
            yield found, listening
        finally:
            found.close()


def _connected(listening: socket.socket, size: int) -> tuple[socket.socket, socket.socket]:
    """A client that has sent some bytes, and its connection on the server."""
    client = socket.create_connection(listening.getsockname())
    accepted, _ = listening.accept()
    client.sendall(b"x" * size)
    left = size
    while left:
        left -= len(accepted.recv(left))
    return client, accepted


def _is_open(client: socket.socket) -> bool:
    client.setblocking(False)
    try:
        return client.recv(1) != b""
    except BlockingIOError:
        return True


def test_one_connection_and_all_together(
    watched: tuple[Strangers, socket.socket], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(strangers, "MOST_BYTES", 1000)
    monkeypatch.setattr(strangers, "MOST_TOTAL", 1500)
    found, listening = watched
    pairs = [_connected(listening, size) for size in (5000, 900, 800, 600, 9000)]
    host, port = pairs[4][0].getsockname()
    found.admitted(f"ipv4:{host}:{port}")
    found.look()
    try:
        assert [_is_open(client) for client, _ in pairs] == [False, False, True, True, True]
    finally:
        for end in (end for pair in pairs for end in pair):
            end.close()


def test_the_port_of_a_closed_connection_is_not_known(watched: tuple[Strangers, socket.socket]) -> None:
    found, _ = watched
    found.admitted("ipv4:127.0.0.1:1")
    found.admitted("unix:")
    found.look()
    assert not found._known
