"""The hunt beyond the findings: one user who holds calls, or whose catalog never finishes an answer, stops nobody."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pyarrow as pa
import pyarrow.flight as fl
import pytest

from pinakes.config.model import CatalogConfig
from pinakes.core.errors import PinakesError
from pinakes.engine.describe import describe
from pinakes.flight.wire.messages import message, pack, read, unpack_as
from tests.engine.support import do
from tests.flight.identities import configured
from tests.flight.serving import Serving, apart, eventually
from tests.security.recording import ANN, USERS, run
from tests.security.rogue import an_engine_of, session_of

CALLS = 16


@contextmanager
def dripping(*, headers: bool) -> Iterator[str]:
    """A host whose answers go on byte by byte, in the headers or in the body, for as long as they are read."""
    listener, over = socket.create_server(("127.0.0.1", 0)), threading.Event()

    def answer(client: socket.socket) -> None:
        with client:
            client.recv(65536)
            start = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
            client.sendall(start + (b"X" if headers else b"Content-Length: 1000000\r\n\r\n"))
            try:
                while not over.wait(0.1):
                    client.sendall(b" " if not headers else b"x")
            except OSError:
                return

    def accept() -> None:
        while True:
            try:
                client, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=answer, args=(client,), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        over.set()
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()


def waiting() -> int:
    return sum(thread.name == "pinakes-waited" for thread in threading.enumerate())


@pytest.mark.slow
@pytest.mark.parametrize("headers", [True, False])
@pytest.mark.parametrize("prepared", [True, False])
def test_an_answer_that_never_ends_is_left(prepared: bool, headers: bool, tmp_path: Path) -> None:
    with dripping(headers=headers) as uri:
        slow = CatalogConfig("slow", "iceberg_rest", uri, {"verify": False})
        with an_engine_of(tmp_path / "lake", slow=slow) as engine:
            session = session_of(engine)
            do(session, "SET statement_timeout = '1s'")
            with pytest.raises(PinakesError) as stopped:
                describe(session, "SELECT * FROM slow.s.t") if prepared else do(session, "SELECT * FROM slow.s.t")
            assert stopped.value.code == "QUERY_TIMEOUT", stopped.value
            assert eventually(lambda: not waiting(), 20)


def held(server: Serving, token: str) -> Iterator[tuple[fl.FlightStreamWriter, fl.FlightMetadataReader]]:
    """Calls of one user that wait for parameters which never come."""
    client = apart(server)
    options = fl.FlightCallOptions(headers=[(b"authorization", f"Bearer {token}".encode())])
    request = pack(message("ActionCreatePreparedStatementRequest")(query="SELECT $1 + 1"))
    made = next(iter(client.do_action(fl.Action("CreatePreparedStatement", request), options))).body.to_pybytes()
    handle = unpack_as("ActionCreatePreparedStatementResult", made).prepared_statement_handle
    command = pack(message("CommandPreparedStatementQuery")(prepared_statement_handle=handle))
    descriptor, schema = fl.FlightDescriptor.for_command(command), pa.schema([("1", pa.int64())])
    while True:
        yield client.do_put(descriptor, schema, options)


@pytest.mark.slow
def test_one_user_does_not_hold_every_call(tmp_path: Path) -> None:
    limits = USERS.replace("[server]\n", f"[server]\nmost_calls = {CALLS}\n")
    with configured(tmp_path, limits) as server:
        holding = held(server, "token-of-eve")
        kept = [next(holding) for _ in range(CALLS + 2)]
        assert eventually(lambda: _is_busy(server))
        assert run(server, "SELECT 1", **ANN) == [(1,)]
        for writer, _ in kept:
            with suppress(pa.ArrowException):
                writer.close()


def _is_busy(server: Serving) -> bool:
    """Whether eve gets no call any more."""
    client, options = apart(server), fl.FlightCallOptions(headers=[(b"authorization", b"Bearer token-of-eve")])
    body = read("GetSessionOptionsRequest", b"").SerializeToString()
    try:
        list(client.do_action(fl.Action("GetSessionOptions", body), options))
    except fl.FlightUnavailableError:
        return True
    return False
