"""The protocol itself, by a plain Flight client: what ADBC never asks for, or hides."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.flight as fl
import pytest

from pinakes.api.build import open_engine
from pinakes.config.model import load_config
from pinakes.config.server_limits import ServerLimits
from pinakes.engine.datafusion.functions import functions
from pinakes.flight.authentication import COOKIE
from pinakes.flight.server import FlightSqlServer
from pinakes.flight.sql_info import SYNTAX
from pinakes.flight.wire.messages import message, pack, read, unpack
from pinakes.server.logins.base import Anybody
from pinakes.server.service import LINGER
from tests.flight.serving import Serving, eventually

EVERY_ID = {*range(12), 100, 101, *range(500, 577)}


class Client:
    def __init__(self, uri: str, **options: Any) -> None:
        self.flight = fl.connect(uri, **options)

    def info(self, name: str, **fields: object) -> fl.FlightInfo:
        return self.flight.get_flight_info(fl.FlightDescriptor.for_command(pack(message(name)(**fields))))

    def rows(self, name: str, **fields: object) -> pa.Table:
        found = self.info(name, **fields)
        table = self.flight.do_get(found.endpoints[0].ticket).read_all()
        assert table.schema == found.schema
        assert table.schema == self.flight.get_schema(found.descriptor).schema or name == "CommandStatementQuery"
        return table

    def query(self, sql: str) -> list[dict[str, Any]]:
        return self.rows("CommandStatementQuery", query=sql).to_pylist()

    def act(self, name: str, body: bytes) -> bytes:
        return b"".join(result.body.to_pybytes() for result in self.flight.do_action(fl.Action(name, body)))


@pytest.fixture
def client(server: Serving) -> Iterator[Client]:
    client = Client(server.uri)
    yield client
    client.flight.close()


# --- what the server says of itself --------------------------------------------------------------------------------


def test_every_piece_of_information_is_there(client: Client) -> None:
    table = client.rows("CommandGetSqlInfo")
    told = dict(zip(table["info_name"].to_pylist(), table["value"].to_pylist(), strict=True))
    assert set(told) == EVERY_ID
    assert (told[0], told[4], told[5], told[8], told[504]) == ("Pinakes", True, False, 1, '"')
    assert dict(told[517])[7], "an integer can be cast to something"
    assert "select" in {word.lower() for word in told[508]}


def test_information_by_its_number(client: Client) -> None:
    assert client.rows("CommandGetSqlInfo", info=[0, 500])["info_name"].to_pylist() == [0, 500]
    assert client.rows("CommandGetSqlInfo", info=[9_999]).num_rows == 0


def test_the_functions_that_are_reported_exist() -> None:
    there = {function.name for function in functions()}
    told = {name for number in (509, 510, 511, 512) for name in SYNTAX[number]}  # type: ignore[union-attr]
    assert told <= there


def test_types(client: Client) -> None:
    table = client.rows("CommandGetXdbcTypeInfo")
    assert table.num_columns == 19
    codes = table["data_type"].to_pylist()
    assert codes == sorted(codes)
    decimal = client.rows("CommandGetXdbcTypeInfo", data_type=3).to_pylist()
    assert [(row["type_name"], row["column_size"], row["create_params"]) for row in decimal] == [
        ("decimal", 38, ["precision", "scale"])
    ]


# --- keys ----------------------------------------------------------------------------------------------------------


def test_primary_keys(client: Client) -> None:
    client.query("CREATE TABLE keyed (a BIGINT NOT NULL, b VARCHAR NOT NULL, c INTEGER, PRIMARY KEY (b, a))")
    client.query("CREATE TABLE key_d (a BIGINT NOT NULL, PRIMARY KEY (a))")
    rows = client.rows("CommandGetPrimaryKeys", catalog="lake", db_schema="default", table="keyed").to_pylist()
    assert {row["column_name"] for row in rows} == {"a", "b"}
    assert [row["key_sequence"] for row in rows] == [1, 2]
    assert {row["key_name"] for row in rows} == {"keyed_pkey"}
    assert client.rows("CommandGetPrimaryKeys", table="key_d").num_rows == 1, "its name is no pattern"
    assert client.rows("CommandGetPrimaryKeys", catalog="", table="keyed").num_rows == 0


@pytest.mark.parametrize("name", ["CommandGetExportedKeys", "CommandGetImportedKeys"])
def test_there_are_no_foreign_keys(client: Client, name: str) -> None:
    table = client.rows(name, table="keyed")
    assert table.num_rows == 0
    assert table.schema.names[:4] == ["pk_catalog_name", "pk_db_schema_name", "pk_table_name", "pk_column_name"]


def test_cross_reference(client: Client) -> None:
    assert client.rows("CommandGetCrossReference", pk_table="a", fk_table="b").num_rows == 0


def test_names_of_no_catalog_are_none(client: Client) -> None:
    assert client.rows("CommandGetTables", catalog="").num_rows == 0
    assert client.rows("CommandGetDbSchemas", catalog="").num_rows == 0
    assert client.rows("CommandGetTables", table_types=["NONSENSE"]).num_rows == 0


# --- prepared statements -------------------------------------------------------------------------------------------


def prepared(client: Client, sql: str) -> Any:
    body = pack(message("ActionCreatePreparedStatementRequest")(query=sql))
    return unpack(client.act("CreatePreparedStatement", body))[1]


def test_a_prepared_statement_shows_what_it_gives_and_takes(client: Client) -> None:
    client.query("CREATE TABLE typed (id BIGINT, price DECIMAL(10, 2), at TIMESTAMP, day DATE)")
    answer = prepared(client, "SELECT id FROM typed WHERE price > ? AND at < ? AND day = ? LIMIT ?")
    assert pa.ipc.read_schema(pa.py_buffer(answer.dataset_schema)).names == ["id"]
    types = pa.ipc.read_schema(pa.py_buffer(answer.parameter_schema)).types
    assert types == [pa.decimal128(10, 2), pa.timestamp("ms"), pa.date32(), pa.int64()]
    assert not answer.is_update


def test_a_prepared_change_has_the_types_of_its_columns(client: Client) -> None:
    client.query("CREATE TABLE filled (id BIGINT, price DECIMAL(10, 2), day DATE)")
    for sql, types in (
        ("INSERT INTO filled VALUES (?, ?, ?)", [pa.int64(), pa.decimal128(10, 2), pa.date32()]),
        ("UPDATE filled SET price = ? WHERE id = ?", [pa.decimal128(10, 2), pa.int64()]),
        ("DELETE FROM filled WHERE day < ?", [pa.date32()]),
    ):
        answer = prepared(client, sql)
        assert pa.ipc.read_schema(pa.py_buffer(answer.parameter_schema)).types == types
        assert answer.is_update
        assert answer.dataset_schema == b""


def test_preparing_runs_nothing(client: Client) -> None:
    prepared(client, "CREATE TABLE never AS SELECT 1 AS x")
    assert client.query("SHOW TABLES LIKE 'never'") == []


def test_a_closed_statement_is_gone(client: Client) -> None:
    handle = prepared(client, "SELECT 1 AS x").prepared_statement_handle
    assert client.rows("CommandPreparedStatementQuery", prepared_statement_handle=handle).num_rows == 1
    body = pack(message("ActionClosePreparedStatementRequest")(prepared_statement_handle=handle))
    client.act("ClosePreparedStatement", body)
    client.act("ClosePreparedStatement", body)
    with pytest.raises(KeyError, match="unknown prepared statement"):
        client.info("CommandPreparedStatementQuery", prepared_statement_handle=handle)


def test_parameters_that_were_not_bound(client: Client) -> None:
    handle = prepared(client, "SELECT ? AS x").prepared_statement_handle
    with pytest.raises(pa.ArrowInvalid, match="takes 1 parameters, and none was bound"):
        client.info("CommandPreparedStatementQuery", prepared_statement_handle=handle)


# --- cancel, renew -------------------------------------------------------------------------------------------------


def test_a_result_that_waits_is_canceled(client: Client) -> None:
    found = client.info("CommandStatementQuery", query="SELECT 1 AS x")
    body = message("CancelFlightInfoRequest")(info=read("FlightInfo", found.serialize())).SerializeToString()
    assert read("CancelFlightInfoResult", client.act("CancelFlightInfo", body)).status == 1
    with pytest.raises(KeyError, match="unknown result"):
        client.flight.do_get(found.endpoints[0].ticket).read_all()
    with pytest.raises(KeyError, match="unknown result"):
        client.act("CancelFlightInfo", body)


def test_a_result_that_is_read_is_canceled_and_not_taken_for_complete(client: Client) -> None:
    found = client.info("CommandStatementQuery", query="SELECT value FROM range(100000000000)")
    reader = client.flight.do_get(found.endpoints[0].ticket)
    reader.read_chunk()
    body = pack(message("ActionCancelQueryRequest")(info=found.serialize()))
    assert unpack(client.act("CancelQuery", body))[1].result == 1
    with pytest.raises(fl.FlightCancelledError, match="QUERY_CANCELED"):
        list(iter(reader.read_chunk, None))  # not read_all, which takes it for Ctrl-C


def test_metadata_has_nothing_to_cancel(client: Client) -> None:
    found = client.info("CommandGetCatalogs")
    body = message("CancelFlightInfoRequest")(info=read("FlightInfo", found.serialize())).SerializeToString()
    assert read("CancelFlightInfoResult", client.act("CancelFlightInfo", body)).status == 3


def test_an_endpoint_is_renewed(client: Client) -> None:
    endpoint = client.info("CommandStatementQuery", query="SELECT 1 AS x").endpoints[0]
    body = message("RenewFlightEndpointRequest")(endpoint=read("FlightEndpoint", endpoint.serialize()))
    renewed = read("FlightEndpoint", client.act("RenewFlightEndpoint", body.SerializeToString()))
    assert renewed.expiration_time.seconds > time.time()
    assert client.flight.do_get(fl.Ticket(renewed.ticket.ticket)).read_all().num_rows == 1
    with pytest.raises(KeyError, match="unknown result"):
        client.act("RenewFlightEndpoint", body.SerializeToString())


# --- sessions ------------------------------------------------------------------------------------------------------


def set_options(client: Client, **options: str) -> dict[str, int]:
    request = message("SetSessionOptionsRequest")()
    for name, value in options.items():
        request.session_options[name].string_value = value
    answer = read("SetSessionOptionsResult", client.act("SetSessionOptions", request.SerializeToString()))
    return {name: error.value for name, error in answer.errors.items()}


def options_of(client: Client) -> dict[str, str]:
    answer = read("GetSessionOptionsResult", client.act("GetSessionOptions", b""))
    return {name: option.string_value for name, option in answer.session_options.items()}


def test_session_options(client: Client) -> None:
    client.query('CREATE SCHEMA IF NOT EXISTS "Op"')
    wrong = {"catalog": "nowhere", "nonsense": "1", "batch_size": "many"}
    assert set_options(client, schema="Op", time_zone="+01:00", **wrong) == {
        "catalog": 2,
        "nonsense": 1,
        "batch_size": 2,
    }
    found = options_of(client)
    assert (found["catalog"], found["schema"], found["time_zone"]) == ("lake", "Op", "+01:00")


def test_a_value_is_never_part_of_the_text(client: Client) -> None:
    assert set_options(client, **{"time_zone": "UTC'; DROP TABLE t; --", 'x" = 1; --': "1"}) == {
        "time_zone": 2,
        'x" = 1; --': 1,
    }


def test_a_closed_session_is_forgotten(client: Client) -> None:
    set_options(client, time_zone="+03:00")
    client.query("CREATE TEMP TABLE passing AS SELECT 1 AS x")
    client.act("CloseSession", b"")
    assert options_of(client)["time_zone"] == "UTC"
    with pytest.raises(pa.ArrowInvalid, match="TABLE_NOT_FOUND"):
        client.query("SELECT * FROM passing")


class Cookies(fl.ClientMiddlewareFactory):
    """A client that keeps the cookies it is given."""

    def __init__(self) -> None:
        self.cookie = ""

    def start_call(self, info: Any) -> fl.ClientMiddleware:
        return _Cookies(self)


class _Cookies(fl.ClientMiddleware):
    def __init__(self, jar: Cookies) -> None:
        self._jar = jar

    def sending_headers(self) -> dict[str, str]:
        return {"cookie": self._jar.cookie} if self._jar.cookie else {}

    def received_headers(self, headers: dict[str, list[str]]) -> None:
        for value in headers.get("set-cookie", []):
            self._jar.cookie = value.partition(";")[0]


def test_a_cookie_leads_back_to_the_session(server: Serving) -> None:
    jar = Cookies()
    first = Client(server.uri, middleware=[jar])
    first.query("SET time_zone = '+04:00'")
    assert jar.cookie.startswith(f"{COOKIE}=")
    first.flight.close()
    again = Client(server.uri, middleware=[jar])
    assert options_of(again)["time_zone"] == "+04:00"
    again.flight.close()
    stranger = Client(server.uri)
    assert options_of(stranger)["time_zone"] == "UTC"
    stranger.flight.close()


def test_a_session_goes_with_the_connection_of_a_client_without_cookies(impatient: FlightSqlServer) -> None:
    """Its port may be another program's next; handles of its own lead back for as long as they are kept."""
    client = calling(impatient)
    client.query("CREATE TABLE t AS SELECT 1 AS x")
    client.query("BEGIN")
    client.query("INSERT INTO t VALUES (2)")
    session = impatient._service.connections.all()[0].session
    client.flight.close()
    assert eventually(lambda: not impatient._service._peers._sessions)
    assert not session.is_closed  # it might come back with its cookie
    impatient._service._sweep_left(time.monotonic() + LINGER + 1)
    assert session.is_closed
    other = calling(impatient)
    assert other.query("SELECT x FROM t") == [{"x": 1}]
    other.flight.close()


def test_a_handle_that_is_not_used_any_more_is_of_its_transaction_alone(impatient: FlightSqlServer) -> None:
    """A statement ended it, and the session is in another one since: its age is not about that."""
    client = calling(impatient)
    client.query("CREATE TABLE t AS SELECT 1 AS x")
    begin_transaction(client)
    client.query("COMMIT")
    client.query("BEGIN")
    client.query("INSERT INTO t VALUES (2)")
    much_later(impatient)
    assert not len(impatient._service.transactions)
    client.query("COMMIT")
    assert client.query("SELECT sum(x) AS x FROM t") == [{"x": 3}]
    client.flight.close()


def begin_transaction(client: Client) -> bytes:
    begun = unpack(client.act("BeginTransaction", pack(message("ActionBeginTransactionRequest")())))
    handle: bytes = begun[1].transaction_id
    return handle


def end_transaction(client: Client, handle: bytes, action: int) -> None:
    client.act("EndTransaction", pack(message("ActionEndTransactionRequest")(transaction_id=handle, action=action)))


@pytest.mark.parametrize(("action", "rows"), [(1, 2), (2, 1)])
def test_a_handle_goes_on_with_the_transaction_that_a_statement_has_begun(
    impatient: FlightSqlServer, action: int, rows: int
) -> None:
    client = calling(impatient)
    client.query("CREATE TABLE t AS SELECT 1 AS x")
    begun = begin_transaction(client)
    client.query("COMMIT")
    client.query("BEGIN")
    client.info("CommandStatementQuery", query="INSERT INTO t VALUES (2)", transaction_id=begun)
    end_transaction(client, begun, action)
    assert client.query("SELECT count(*) AS n FROM t") == [{"n": rows}]
    assert client.query("SELECT count(*) AS n FROM system.runtime.transactions") == [{"n": 0}]
    client.flight.close()


@pytest.mark.parametrize("action", [1, 2])
def test_the_end_of_a_transaction_that_a_statement_ended_does_nothing(client: Client, action: int) -> None:
    begun = begin_transaction(client)
    client.query("COMMIT")
    end_transaction(client, begun, action)
    assert client.query("SELECT count(*) AS n FROM system.runtime.transactions") == [{"n": 0}]


def test_a_statement_begins_the_next_transaction_of_its_handle(impatient: FlightSqlServer) -> None:
    """As a client with autocommit off expects it after a COMMIT that its user typed."""
    client = calling(impatient)
    begun = begin_transaction(client)
    for sql in ("CREATE TABLE t (x INT)", "COMMIT", "INSERT INTO t VALUES (1)"):
        client.info("CommandStatementQuery", query=sql, transaction_id=begun)
    end_transaction(client, begun, 2)
    assert client.query("SELECT count(*) AS n FROM t") == [{"n": 0}]
    client.flight.close()


def test_two_handles_of_one_connection_do_not_share_a_transaction(client: Client) -> None:
    one = begin_transaction(client)
    with pytest.raises(pa.ArrowInvalid, match="has begun already on this connection"):
        begin_transaction(client)
    client.query("COMMIT")
    other = begin_transaction(client)
    with pytest.raises(pa.ArrowInvalid, match="ended already"):
        client.info("CommandStatementQuery", query="SELECT 1", transaction_id=one)
    end_transaction(client, one, 1)  # it is over; the other is not
    assert client.query("SELECT count(*) AS n FROM system.runtime.transactions") == [{"n": 1}]
    end_transaction(client, other, 2)


def test_autocommit_is_turned_off_within_a_transaction(client: Client) -> None:
    client.query("BEGIN")
    begun = begin_transaction(client)
    end_transaction(client, begun, 2)
    assert client.query("SELECT count(*) AS n FROM system.runtime.transactions") == [{"n": 0}]


def test_the_rollback_of_a_transaction_that_is_gone_is_no_error(client: Client) -> None:
    end_transaction(client, b"0123456789abcdef", 2)
    with pytest.raises(KeyError, match="unknown transaction"):
        end_transaction(client, b"0123456789abcdef", 1)


# --- limits --------------------------------------------------------------------------------------------------------


@pytest.fixture
def impatient(tmp_path: Path) -> Iterator[FlightSqlServer]:
    """A server in this process that keeps not much."""
    with open_engine(load_config(data=str(tmp_path))) as engine:
        limits = ServerLimits(most_results=2, most_transactions=10, most_calls=1)
        server = FlightSqlServer(engine, "grpc://127.0.0.1:0", Anybody(), limits=limits)
        yield server
        server.close()


def much_later(server: FlightSqlServer) -> None:
    """Nobody has used for long what it keeps for a while."""
    for kept in (server._service.pending, server._service.transactions):
        kept._clock = lambda: time.monotonic() + 86_400
        kept.sweep()


def calling(server: FlightSqlServer) -> Client:
    return Client(f"grpc://127.0.0.1:{server.port}")


def gone(client: Client, ticket: fl.Ticket) -> bool:
    try:
        client.flight.do_get(ticket).read_all()
    except KeyError:
        return True
    return False


def test_results_and_transactions_expire(impatient: FlightSqlServer) -> None:
    client = calling(impatient)
    client.query("CREATE TABLE t AS SELECT 1 AS x")
    begun = unpack(client.act("BeginTransaction", pack(message("ActionBeginTransactionRequest")())))[1].transaction_id
    client.info("CommandStatementQuery", query="INSERT INTO t VALUES (2)", transaction_id=begun)
    waiting = client.info("CommandStatementQuery", query="SELECT 1 AS x").endpoints[0].ticket
    assert (len(impatient._service.pending), len(impatient._service.transactions)) == (2, 1)
    much_later(impatient)
    assert (len(impatient._service.pending), len(impatient._service.transactions)) == (0, 0)
    assert gone(client, waiting)
    with pytest.raises(KeyError, match="unknown transaction"):
        client.info("CommandStatementQuery", query="SELECT 1", transaction_id=begun)
    assert client.query("SELECT x FROM t") == [{"x": 1}]
    client.flight.close()


def test_only_so_many_results_wait(impatient: FlightSqlServer) -> None:
    client = calling(impatient)
    tickets = [client.info("CommandStatementQuery", query=f"SELECT {n} AS x").endpoints[0].ticket for n in range(3)]
    assert gone(client, tickets[0])
    client.flight.close()


def test_only_so_many_calls_run(impatient: FlightSqlServer) -> None:
    one, other = calling(impatient), calling(impatient)
    found = one.info("CommandStatementQuery", query="SELECT value FROM range(100000000000)")
    reader = one.flight.do_get(found.endpoints[0].ticket)
    reader.read_chunk()
    with pytest.raises(fl.FlightUnavailableError, match="BUSY"):
        other.query("SELECT 1 AS x")
    reader.cancel()

    def answered() -> bool:
        try:
            return other.query("SELECT 1 AS x") == [{"x": 1}]
        except fl.FlightUnavailableError:
            return False

    assert eventually(answered)
    one.flight.close()
    other.flight.close()
