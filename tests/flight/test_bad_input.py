"""What no client should send: garbage, cut messages, tickets of others. Typed errors, and the server goes on."""

from __future__ import annotations

import random
import socket
from collections.abc import Callable, Iterator

import pyarrow as pa
import pyarrow.flight as fl
import pytest

from pinakes.flight.actions.table import ACTIONS
from pinakes.flight.commands.table import COMMANDS
from pinakes.flight.wire.messages import message, pack
from pinakes.flight.wire.schema import SQL_MESSAGES
from tests.engine.support import LONG
from tests.flight.serving import Serving, eventually

PAYLOADS = 10_000 if LONG else 200
Send = Callable[[fl.FlightClient, bytes], object]


@pytest.fixture
def client(server: Serving) -> Iterator[fl.FlightClient]:
    with fl.connect(server.uri) as client:
        yield client


def put(client: fl.FlightClient, payload: bytes) -> None:
    writer, reader = client.do_put(fl.FlightDescriptor.for_command(payload), pa.schema([]))
    with writer:
        writer.done_writing()
        reader.read()


def act(name: str) -> Send:
    return lambda client, payload: list(client.do_action(fl.Action(name, payload)))


def get(client: fl.FlightClient, payload: bytes) -> pa.Table:
    return client.do_get(fl.Ticket(payload)).read_all()


def info(client: fl.FlightClient, payload: bytes) -> fl.FlightInfo:
    return client.get_flight_info(fl.FlightDescriptor.for_command(payload))


SENDS: dict[str, Send] = {
    "GetFlightInfo": info,
    "GetSchema": lambda client, payload: client.get_schema(fl.FlightDescriptor.for_command(payload)),
    "DoGet": get,
    "DoPut": put,
    **{name: act(name) for name in ACTIONS},
}


def payload(chance: random.Random) -> bytes:
    """Bytes at random, a real command cut or changed somewhere, or one of random content."""
    name = chance.choice(sorted(SQL_MESSAGES))
    noise = chance.randbytes(chance.randrange(60))
    whole = pack(message(name)())
    wrapped = whole[:2] + whole[2:] + b"\x12" + bytes([len(noise)]) + noise
    match chance.randrange(4):
        case 0:
            return noise
        case 1:
            return wrapped[: chance.randrange(len(wrapped))]
        case 2:
            at = chance.randrange(len(wrapped))
            return wrapped[:at] + bytes([chance.randrange(256)]) + wrapped[at + 1 :]
        case _:
            return wrapped


def test_random_payloads_are_answered_with_typed_errors(server: Serving, client: fl.FlightClient) -> None:
    chance = random.Random(20261116)
    said = []
    for _ in range(PAYLOADS):
        method = chance.choice(sorted(set(SENDS) - {"CloseSession"}))
        try:
            SENDS[method](client, payload(chance))
        except (fl.FlightError, pa.ArrowException) as error:
            said.append(f"{method}: {error}")
    assert len(said) > PAYLOADS / 2
    assert [text for text in said if "Traceback" in text or "INTERNAL_ERROR" in text] == []
    assert server.process.poll() is None
    assert fetched(client, "SELECT 41 + 1 AS x").to_pydict() == {"x": [42]}


def fetched(client: fl.FlightClient, sql: str) -> pa.Table:
    answer = info(client, pack(message("CommandStatementQuery")(query=sql)))
    return client.do_get(answer.endpoints[0].ticket).read_all()


def test_garbage_and_half_open_connections(server: Serving, client: fl.FlightClient) -> None:
    chance = random.Random(1)
    before = server.threads()
    held = []
    for _ in range(20):
        raw = socket.create_connection(("127.0.0.1", server.port))
        raw.sendall(chance.randbytes(1000))
        raw.close()
        half = socket.create_connection(("127.0.0.1", server.port))
        half.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
        held.append(half)
    assert fetched(client, "SELECT 1 AS x").num_rows == 1
    for half in held:
        half.close()
    assert fetched(client, "SELECT 1 AS x").num_rows == 1
    assert eventually(lambda: server.threads() < before + 20)


def test_a_ticket_is_good_for_one_reading(client: fl.FlightClient) -> None:
    answer = info(client, pack(message("CommandStatementQuery")(query="SELECT 1 AS x")))
    ticket = answer.endpoints[0].ticket
    assert client.do_get(ticket).read_all().num_rows == 1
    with pytest.raises(pa.ArrowKeyError, match="NOT_FOUND: unknown result"):
        client.do_get(ticket).read_all()


@pytest.mark.parametrize("handle", [b"", b"\x00" * 16, b"x" * 10_000])
def test_forged_handles(client: fl.FlightClient, handle: bytes) -> None:
    with pytest.raises(pa.ArrowKeyError, match="unknown result"):
        get(client, pack(message("TicketStatementQuery")(statement_handle=handle)))
    with pytest.raises(pa.ArrowKeyError, match="unknown prepared statement"):
        info(client, pack(message("CommandPreparedStatementQuery")(prepared_statement_handle=handle)))
    if handle:  # without one, a statement is its own transaction
        with pytest.raises(pa.ArrowKeyError, match="unknown transaction"):
            info(client, pack(message("CommandStatementQuery")(query="SELECT 1", transaction_id=handle)))
    with pytest.raises(pa.ArrowKeyError, match="unknown transaction"):
        act("EndTransaction")(client, pack(message("ActionEndTransactionRequest")(transaction_id=handle, action=1)))


@pytest.mark.parametrize(
    ("sql", "begin", "end"),
    [
        (f"SELECT {'x' * 4_900}", "COLUMN_NOT_FOUND: column xxxx", " …"),
        (f"SELECT cast('{'ü' * 20_000}' || value AS bigint) FROM range(3)", "EXECUTION_ERROR: 'üüü", " …"),
        (f"SELEC {'z' * 4_900}", "PARSE_ERROR: 'SELEC' is not a statement", "^"),
    ],
    ids=["name", "value", "text"],
)
def test_a_long_error_is_cut_to_what_every_client_takes(
    client: fl.FlightClient, sql: str, begin: str, end: str
) -> None:
    """Of one whose headers are too long, clients would see that alone."""
    with pytest.raises(pa.ArrowException) as error:
        fetched(client, sql)
    said = str(error.value).partition(". Detail:")[0]
    assert said.startswith(begin)
    assert said.endswith(end)
    assert len(said) < 4_000


@pytest.mark.parametrize("name", sorted(set(SQL_MESSAGES) - set(COMMANDS)))
def test_what_is_no_command(client: fl.FlightClient, name: str) -> None:
    with pytest.raises(pa.ArrowInvalid, match="is not a command of Flight SQL"):
        info(client, pack(message(name)()))


def test_substrait_and_savepoints_are_refused_politely(client: fl.FlightClient) -> None:
    with pytest.raises(pa.ArrowNotImplementedError, match="send the statement as SQL"):
        info(client, pack(message("CommandStatementSubstraitPlan")()))
    with pytest.raises(pa.ArrowNotImplementedError, match="send the statement as SQL"):
        act("CreatePreparedSubstraitPlan")(client, b"")
    with pytest.raises(pa.ArrowNotImplementedError, match="no savepoints"):
        act("BeginSavepoint")(client, b"")


def test_an_action_that_is_not_there(client: fl.FlightClient) -> None:
    with pytest.raises(pa.ArrowNotImplementedError, match=r"no action 'Dance'; available: .*CancelFlightInfo"):
        act("Dance")(client, b"")
    assert "CloseSession" in {action.type for action in client.list_actions()}


def test_paths_flights_and_exchanges(client: fl.FlightClient) -> None:
    with pytest.raises(pa.ArrowInvalid, match="not paths"):
        client.get_flight_info(fl.FlightDescriptor.for_path("a", "b"))
    with pytest.raises(pa.ArrowNotImplementedError, match="ListFlights is not supported"):
        list(client.list_flights())


def test_every_command_is_in_the_table() -> None:
    commands = {name for name in SQL_MESSAGES if name.startswith(("Command", "Ticket"))}
    assert commands == set(COMMANDS)


def test_a_client_that_leaves_after_each_step(server: Serving) -> None:
    """Results that nobody fetches, statements that nobody closes, transactions that nobody ends."""
    for _ in range(5):
        with fl.connect(server.uri) as one:
            info(one, pack(message("CommandStatementQuery")(query="SELECT 1")))
            act("CreatePreparedStatement")(one, pack(message("ActionCreatePreparedStatementRequest")(query="SELECT ?")))
            act("BeginTransaction")(one, pack(message("ActionBeginTransactionRequest")()))
        with fl.connect(server.uri) as one:
            reader = one.do_get(
                info(one, pack(message("CommandStatementQuery")(query="SELECT value FROM range(100000000000)")))
                .endpoints[0]
                .ticket
            )
            reader.read_chunk()
            reader.cancel()
    with fl.connect(server.uri) as client:
        assert fetched(client, "SELECT 1 AS x").num_rows == 1
        running = (
            "SELECT count(*) AS n FROM system.runtime.queries WHERE state = 'RUNNING' AND query LIKE 'SELECT value%'"
        )
        assert eventually(lambda: fetched(client, running).column("n").to_pylist() == [0])
