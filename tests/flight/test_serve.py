"""`pinakes serve` itself: where it listens, to whom, with TLS, and how it stops."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
from pathlib import Path

import adbc_driver_flightsql.dbapi as adbc
import pyarrow.flight as fl
import pytest
from adbc_driver_flightsql import DatabaseOptions

from pinakes.flight.wire.messages import message, pack, unpack
from tests.flight.serving import PATIENCE, Serving, certificate, eventually, serving


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pinakes", "serve", "--data", ":memory:", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)


def one(server: Serving, **options: object) -> object:
    with server.connect(**options) as connection, connection.cursor() as cursor:
        cursor.execute("SELECT current_user")
        return cursor.fetchone()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_says_where_it_listens_and_stops_in_good_order(number: signal.Signals) -> None:
    with serving() as server:
        assert one(server)
        assert server.uri.startswith("grpc://127.0.0.1:")
        assert eventually(lambda: "There is no authentication" in server.output)
        server.process.send_signal(number)
        assert server.process.wait(PATIENCE) == 0
        assert eventually(lambda: "Stopping" in server.output)


def ask(client: fl.FlightClient, sql: str, **options: bytes) -> fl.FlightStreamReader:
    """By Flight itself: ADBC's connections can't be closed once the server is gone."""
    command = pack(message("CommandStatementQuery")(query=sql, **options))
    return client.do_get(client.get_flight_info(fl.FlightDescriptor.for_command(command)).endpoints[0].ticket)


def configured(directory: Path, toml: str) -> str:
    """A configuration file with this in it."""
    (directory / "pinakes.toml").write_text(toml)
    return str(directory / "pinakes.toml")


def test_it_stops_while_a_query_runs(tmp_path: Path) -> None:
    hasty = configured(tmp_path, "[server]\ndrain_time = 0")
    with serving("--config", hasty) as server, fl.connect(server.uri) as client:
        reader = ask(client, "SELECT value FROM range(100000000000)")
        reader.read_chunk()
        assert server.stop() == 0
        with pytest.raises((fl.FlightError, OSError)):
            list(iter(reader.read_chunk, None))


def test_what_was_committed_is_there_after_a_restart(tmp_path: Path) -> None:
    with serving(data=str(tmp_path)) as server, fl.connect(server.uri) as client:
        ask(client, "CREATE TABLE kept AS SELECT 1 AS x")
        begun = client.do_action(fl.Action("BeginTransaction", pack(message("ActionBeginTransactionRequest")())))
        begun = unpack(next(iter(begun)).body.to_pybytes())[1].transaction_id
        ask(client, "INSERT INTO kept VALUES (2)", transaction_id=begun)
        assert server.stop() == 0
    with serving(data=str(tmp_path)) as server, fl.connect(server.uri) as client:
        assert ask(client, "SELECT x FROM kept").read_all().to_pydict() == {"x": [1]}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--host", "0.0.0.0"], "without authentication it listens on this machine only"),
        (["--port", "70000"], "--port must be a number from 0 to 65535"),
        (["--metrics-port", "70000"], "--metrics-port must be a number from 0 to 65535"),
        (["--tls-cert", "x"], "--tls-cert and --tls-key go together"),
        (["--tls-cert", "nowhere", "--tls-key", "nowhere"], "--tls-cert 'nowhere' can't be read"),
        (["--tls-cert", __file__, "--tls-key", __file__], "are not a certificate and its key in PEM format"),
        (["-c", "SELECT 1"], "serve runs no statements"),
        (["--host", "192.0.2.1"], "without authentication"),
    ],
)
def test_wrong_arguments_are_reported(arguments: list[str], said: str) -> None:
    done = run(*arguments)
    assert done.returncode in (1, 2)
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_a_port_that_is_taken_is_reported() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        done = run("--port", str(taken.getsockname()[1]))
    assert done.returncode == 1
    assert "Address already in use" in done.stderr
    assert "Traceback" not in done.stderr


def test_its_options_are_for_serve_only() -> None:
    command = [sys.executable, "-m", "pinakes", "--port", "1", "-c", "SELECT 1"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 2
    assert "--port is for `pinakes serve`" in done.stderr


# --- users -------------------------------------------------------------------------------------------------------


@pytest.fixture
def configuration(tmp_path: Path) -> Path:
    file = tmp_path / "pinakes.toml"
    file.write_text('[server.users]\nann = "geheim"\nbob = { file = "bob.txt" }\n[server.tokens]\nrobot = "t0k3n"\n')
    (tmp_path / "bob.txt").write_text("hush\n")
    return file


def as_user(name: str, password: str) -> dict[str, object]:
    return {"db_kwargs": {"username": name, "password": password}}


def with_token(token: str) -> dict[str, object]:
    return {"db_kwargs": {DatabaseOptions.AUTHORIZATION_HEADER.value: f"Bearer {token}"}}


def test_users_and_tokens(configuration: Path) -> None:
    with serving("--config", str(configuration)) as server:
        assert eventually(lambda: "There is no TLS" in server.output)
        assert one(server, **as_user("ann", "geheim")) == ("ann",)
        assert one(server, **as_user("bob", "hush")) == ("bob",)
        assert one(server, **with_token("t0k3n")) == ("robot",)
        for wrong in (as_user("ann", "hush"), as_user("nobody", "x"), as_user("", ""), with_token("x"), {}):
            with pytest.raises(adbc.Error, match=r"(?i)unauthenticated") as error:
                one(server, **wrong)
            assert "geheim" not in str(error.value)
        assert "geheim" not in server.output


def test_the_ticket_of_somebody_else_is_not_there(configuration: Path) -> None:
    def options(name: str, password: str) -> fl.FlightCallOptions:
        return fl.FlightCallOptions(headers=[client.authenticate_basic_token(name, password)])

    with serving("--config", str(configuration)) as server, fl.connect(server.uri) as client:
        ann, bob = options("ann", "geheim"), options("bob", "hush")
        command = fl.FlightDescriptor.for_command(pack(message("CommandStatementQuery")(query="SELECT 1 AS x")))
        ticket = client.get_flight_info(command, ann).endpoints[0].ticket
        with pytest.raises(KeyError, match="unknown result"):
            client.do_get(ticket, bob).read_all()
        assert client.do_get(ticket, ann).read_all().num_rows == 1


def test_no_authentication_takes_any_user(server: Serving) -> None:
    """Clients that insist on a password can connect."""
    assert one(server, **as_user("whoever", "whatever")) == one(server)


# --- TLS ---------------------------------------------------------------------------------------------------------


def test_tls(tmp_path: Path) -> None:
    cert, key = certificate(tmp_path)
    with serving("--host", "localhost", "--tls-cert", str(cert), "--tls-key", str(key)) as server:
        assert server.uri.startswith("grpc+tls://localhost:")
        trusting = {"db_kwargs": {DatabaseOptions.TLS_ROOT_CERTS.value: cert.read_text()}}
        assert one(server, **trusting)
        with pytest.raises(adbc.Error, match="certificate"):
            one(server)
