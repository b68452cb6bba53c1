"""A client can't fill the memory of the server with a message: gRPC receives a whole one of up to 4 GB before the
server sees the call, so the connection is closed."""

from __future__ import annotations

import base64
import socket
from collections.abc import Iterable, Iterator
from contextlib import suppress

import pyarrow as pa
import pyarrow.flight as fl
import pytest

from pinakes.engine.execution.memory_budget import MemoryBudget
from pinakes.flight.wire.messages import message, pack
from pinakes.server import connection_watch
from pinakes.server.connection_watch import ConnectionWatch
from tests.flight.identities import configured, headers, query
from tests.flight.serving import Serving, apart, eventually
from tests.security.recording import EVE, USERS, run

LARGE = 8 << 20
PASSWORD = "a-password-of-pat"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    limits = USERS.replace("[server]\n", '[server]\nclient_memory_per_user = "100MB"\n')
    limits += f'[server.users]\npat = "{PASSWORD}"\n'
    with configured(tmp_path_factory.mktemp("large"), limits) as running:
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


def test_a_message_of_a_user_is_limited_while_it_is_received(server: Serving) -> None:
    before = server.output.count("was disconnected")

    def is_disconnected() -> bool:
        with apart(server) as client, suppress(fl.FlightUnavailableError, pa.ArrowInvalid):
            assert _send(client, headers("token-of-eve"), 100)
            _send(client, headers("token-of-eve"), 100 * LARGE)
        return server.output.count("was disconnected") > before

    assert eventually(is_disconnected)
    assert run(server, "SELECT 1", **EVE) == [(1,)]


def test_a_message_with_more_than_a_statement_is_not_parsed(server: Serving) -> None:
    with apart(server) as client:
        assert _send(client, headers("token-of-eve"), 100)
        with pytest.raises(pa.ArrowInvalid, match="text_size"):
            _send(client, headers("token-of-eve"), 6 * LARGE)


def test_a_client_with_a_login_sends_more(server: Serving) -> None:
    before = server.output.count("was disconnected")
    with apart(server) as client:
        assert _send(client, headers("token-of-eve"), 100)
        for _ in range(8):
            assert _send(client, headers("token-of-eve"), LARGE)
    assert server.output.count("was disconnected") == before


@pytest.fixture
def watched() -> Iterator[tuple[ConnectionWatch, socket.socket]]:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        found = ConnectionWatch(listening.getsockname()[1], MemoryBudget(1_000_000, 1_500_000))
        found.close()  # the tests check by themselves
        yield found, listening


def _connected(listening: socket.socket, size: int) -> tuple[socket.socket, socket.socket]:
    """A client that has sent some bytes, and its connection on the server."""
    client = socket.create_connection(listening.getsockname())
    accepted, _ = listening.accept()
    _send_all(client, accepted, size)
    return client, accepted


def _send_all(client: socket.socket, accepted: socket.socket, size: int) -> None:
    for part in range(0, size, 10_000):
        left = min(10_000, size - part)
        client.sendall(b"x" * left)
        while left:
            left -= len(accepted.recv(left))


def _peer(client: socket.socket) -> str:
    return "ipv4:{}:{}".format(*client.getsockname())


def _is_open(client: socket.socket) -> bool:
    client.setblocking(False)
    try:
        return client.recv(1) != b""
    except BlockingIOError:
        return True
    finally:
        client.setblocking(True)


def _close(pairs: Iterable[tuple[socket.socket, socket.socket]]) -> None:
    for end in (end for pair in pairs for end in pair):
        end.close()


def test_connections_without_a_login(
    watched: tuple[ConnectionWatch, socket.socket], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection_watch, "MOST_BYTES", 1000)
    monkeypatch.setattr(connection_watch, "MOST_TOTAL", 1500)
    found, listening = watched
    pairs = [_connected(listening, size) for size in (5000, 900, 800, 600, 9000)]
    found.note_message(_peer(pairs[4][0]), "eve", 9000)
    found.look()
    try:
        assert [_is_open(client) for client, _ in pairs] == [False, False, True, True, True]
    finally:
        _close(pairs)


def test_a_handshake_lets_one_connection_receive_more(
    watched: tuple[ConnectionWatch, socket.socket], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection_watch, "MOST_BYTES", 1000)
    monkeypatch.setattr(connection_watch, "MOST_AFTER_HANDSHAKE", 20_000)
    found, listening = watched
    found.note_handshake()
    pairs = [_connected(listening, 5000)]
    try:
        found.look()
        assert _is_open(pairs[0][0])
        pairs.append(_connected(listening, 5000))
        found.look()
        assert [_is_open(client) for client, _ in pairs] == [True, False]
        _send_all(*pairs[0], 20_000)
        found.look()
        assert not _is_open(pairs[0][0])
        monkeypatch.setattr(connection_watch, "HANDSHAKE_SECONDS", -1.0)
        found.note_handshake()
        pairs.append(_connected(listening, 5000))
        found.look()
        assert not _is_open(pairs[2][0])
    finally:
        _close(pairs)


def test_the_first_statement_after_a_handshake_can_be_long(server: Serving) -> None:
    before = server.output.count("was disconnected")
    statement = f"SELECT length('{'a' * (3 << 20)}')"
    for _ in range(3):
        with apart(server) as client:
            token = client.authenticate_basic_token(b"pat", PASSWORD.encode())
            options = fl.FlightCallOptions(headers=[token])
            info = client.get_flight_info(query(statement), options)
            assert client.do_get(info.endpoints[0].ticket, options).read_all().to_pylist()
    assert server.output.count("was disconnected") == before


def test_rows_can_be_the_first_that_a_client_sends(server: Serving) -> None:
    """Their call is authenticated as soon as it begins, also with a password in each call."""
    before = server.output.count("was disconnected")
    rows = pa.record_batch([pa.array(["x" * 100_000] * 200)], names=["s"])  # 20 MB
    ingest = message("CommandStatementIngest")(table="first")
    ingest.table_definition_options.if_not_exist = 1
    ingest.table_definition_options.if_exists = 3
    for authorization in ("Bearer token-of-eve", f"Basic {base64.b64encode(f'pat:{PASSWORD}'.encode()).decode()}"):
        options = fl.FlightCallOptions(headers=[(b"authorization", authorization.encode())])
        with apart(server) as client:
            writer, reader = client.do_put(fl.FlightDescriptor.for_command(pack(ingest)), rows.schema, options)
            writer.write_batch(rows)
            writer.done_writing()
            assert reader.read() is not None
            writer.close()
    assert server.output.count("was disconnected") == before
    assert run(server, "SELECT count(*) FROM first", **EVE) == [(200,)]


def test_messages_under_way_of_a_user(watched: tuple[ConnectionWatch, socket.socket]) -> None:
    found, listening = watched
    pairs = [_connected(listening, 1000) for _ in range(3)]
    clients = [client for client, _ in pairs]
    try:
        for client, user in zip(clients, ("eve", "eve", "ann"), strict=True):
            found.note_message(_peer(client), user, 1000)
        for (client, accepted), size in zip(pairs, (800_000, 300_000, 300_000), strict=True):
            _send_all(client, accepted, size)
        found.look()
        assert [_is_open(client) for client in clients] == [False, True, True]
        found.note_message(_peer(clients[2]), "ann", 300_000)  # it has arrived, and the next is under way
        _send_all(*pairs[2], 900_000)
        found.look()
        assert [_is_open(client) for client in clients[1:]] == [True, True]
        _send_all(*pairs[1], 600_000)  # both together are too much
        found.look()
        assert [_is_open(client) for client in clients[1:]] == [False, True]
    finally:
        _close(pairs)


def test_many_small_messages_are_not_taken_for_a_large_one(watched: tuple[ConnectionWatch, socket.socket]) -> None:
    found, listening = watched
    pair = _connected(listening, 500)
    try:
        for _ in range(300):
            _send_all(*pair, 8_000)
            found.note_message(_peer(pair[0]), "eve", 100)
        found.look()
        assert _is_open(pair[0])
    finally:
        _close([pair])


def test_the_port_of_a_closed_connection_is_not_known(watched: tuple[ConnectionWatch, socket.socket]) -> None:
    found, _ = watched
    found.note_message("ipv4:127.0.0.1:1", "eve", 10)
    found.note_message("unix:", "eve", 10)
    found.look()
    assert not found._peers
