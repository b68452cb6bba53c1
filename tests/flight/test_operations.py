"""A server as its operator sees it: health and figures, logs, draining, reloading, limits, and what is refused."""

from __future__ import annotations

import json
import signal
import socket
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

import adbc_driver_flightsql.dbapi as adbc
import pyarrow.flight as fl
import pytest

from tests.engine.support import in_thread
from tests.flight.serving import PATIENCE, Serving, apart, eventually, serving
from tests.flight.test_serve import as_user, ask, certificate, configured, one, run, with_token

ENDLESS = "SELECT value FROM range(100000000000)"
LONG = "SELECT count(*) FROM range(100000000000)"
PATIENT = '[server]\ndrain_time = "10min"\n'
"""What runs is not stopped because the machine is slow."""


def get(server: Serving, path: str) -> tuple[int, str]:
    try:
        with urllib.request.urlopen(f"{server.metrics}{path}", timeout=PATIENCE) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()


def figures(server: Serving) -> dict[str, float]:
    lines = (line for line in get(server, "/metrics")[1].splitlines() if not line.startswith("#"))
    return {name: float(value) for name, _, value in (line.rpartition(" ") for line in lines)}


def rows(connection: adbc.Connection, sql: str) -> list[tuple[object, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(sql)
        return list(cursor.fetchall())


# --- health and figures ------------------------------------------------------------------------------------------


def test_health(server: Serving) -> None:
    assert get(server, "/health") == (200, "ok\n")
    assert get(server, "/ready") == (200, "ready\n")
    assert get(server, "/else")[0] == 404
    assert urlsplit(server.metrics).hostname == "127.0.0.1"


def test_figures(server: Serving, connection: adbc.Connection) -> None:
    before = figures(server)
    rows(connection, "CREATE TABLE counted AS SELECT value FROM range(10)")
    assert len(rows(connection, "SELECT * FROM counted")) == 10
    with pytest.raises(adbc.Error):
        rows(connection, "KILL 'nowhere'")
    assert eventually(lambda: figures(server).get('pinakes_query_errors_total{code="NOT_FOUND"}', 0) >= 1)
    after = figures(server)

    def more(name: str) -> float:
        return after[name] - before.get(name, 0)

    assert more('pinakes_queries_total{kind="Query",state="FINISHED"}') >= 1
    assert more('pinakes_queries_total{kind="Kill",state="FAILED"}') == 1
    assert more("pinakes_query_duration_seconds_count") >= 3
    assert more("pinakes_returned_rows_total") == 10
    assert more("pinakes_written_rows_total") == 10
    assert more("pinakes_read_rows_total") >= 10
    assert after['pinakes_catalog_calls_total{catalog="lake",operation="load_table",outcome="ok"}'] >= 1
    assert after['pinakes_cache_misses_total{cache="statements"}'] >= 1
    assert after['pinakes_pool_capacity{pool="statements"}'] >= 8
    assert after["pinakes_flight_sessions"] >= 1
    assert after["process_resident_memory_bytes"] > 1e6


def test_every_figure_is_documented(server: Serving) -> None:
    page = (Path(__file__).parents[2] / "docs/how-to/operate-a-server.md").read_text(encoding="utf-8")
    names = {line.split()[2] for line in get(server, "/metrics")[1].splitlines() if line.startswith("# TYPE pinakes_")}
    assert len(names) > 20
    assert [name for name in names if f"`{name}`" not in page] == []


def test_nothing_that_a_user_wrote_is_in_the_figures(server: Serving, connection: adbc.Connection) -> None:
    with pytest.raises(adbc.Error):
        rows(connection, "SELECT * FROM hunter2")
    assert "hunter2" not in get(server, "/metrics")[1]


def test_garbage_is_hung_up_on(server: Serving) -> None:
    place = urlsplit(server.metrics)
    address = (str(place.hostname), int(place.port or 0))
    for garbage in (
        b"\x16\x03\x01\x00\xff" * 50,
        b"GET " + b"a" * 100_000 + b"\r\n\r\n",
        b"\0" * 10_000,
        b"PRI * HTTP/2.0",
    ):
        with socket.create_connection(address, timeout=PATIENCE) as talking:
            try:
                talking.sendall(garbage)
                talking.shutdown(socket.SHUT_WR)
                answer = talking.recv(1 << 16)
            except OSError:  # it has hung up before all of it was sent
                continue
            assert b"Traceback" not in answer
    assert get(server, "/health") == (200, "ok\n")
    assert "Traceback" not in server.output


def test_those_who_say_nothing_do_not_keep_others_out(server: Serving) -> None:
    place = urlsplit(server.metrics)
    silent = [socket.create_connection((str(place.hostname), int(place.port or 0))) for _ in range(40)]
    try:
        assert eventually(lambda: _answers(server))
    finally:
        for talking in silent:
            talking.close()


def _answers(server: Serving) -> bool:
    try:
        return get(server, "/health")[0] == 200
    except OSError:
        return False


def test_a_metrics_port_that_is_taken_is_reported() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        done = run("--port", "0", "--metrics-port", str(taken.getsockname()[1]))
    assert done.returncode == 1
    assert "can't tell health and metrics on" in done.stderr
    assert "Traceback" not in done.stderr


# --- logs --------------------------------------------------------------------------------------------------------


def test_each_statement_is_a_line(tmp_path: Path) -> None:
    config = configured(tmp_path, '[log]\nlevel = "info"\nformat = "json"\n[server.users]\nann = "geheim"\n')
    with serving("--config", config) as server:
        with server.connect(**as_user("ann", "geheim")) as connection:
            rows(connection, "SELECT 41 + 1")
            rows(connection, "CREATE SECRET s (TYPE bearer, TOKEN 'hunter2')")
            with pytest.raises(adbc.Error):
                rows(connection, "KILL\n'nowhere'")
        assert eventually(lambda: "nowhere" in server.output)
        lines = [json.loads(line) for line in server.output.splitlines() if line.startswith("{")]
        told = {line["statement"]: line for line in lines if line["logger"] == "pinakes.statements"}
        good, bad = told["SELECT 41 + 1"], told["KILL\n'nowhere'"]
        assert (good["user"], good["state"], good["rows"], good["source"]) == ("ann", "FINISHED", 1, "flight")
        assert good["query_id"]
        assert (bad["state"], bad["error_code"]) == ("FAILED", "NOT_FOUND")
        assert "hunter2" not in server.output
        assert "geheim" not in server.output


# --- stopping ----------------------------------------------------------------------------------------------------


def test_sigterm_lets_what_runs_come_to_its_end(tmp_path: Path) -> None:
    patient = configured(tmp_path, PATIENT)
    with serving("--config", patient) as server, fl.connect(server.uri) as client, fl.connect(server.uri) as other:
        reader = ask(client, "SELECT value FROM range(3000000)")
        reader.read_chunk()
        server.process.send_signal(signal.SIGTERM)
        assert eventually(lambda: get(server, "/ready")[0] == 503)
        assert get(server, "/health")[0] == 200
        with pytest.raises(fl.FlightUnavailableError, match="SERVER_BUSY: the server is shutting down"):
            ask(other, "SELECT 1")
        assert sum(chunk.data.num_rows for chunk in reader) > 2_000_000
        assert server.process.wait(PATIENCE) == 0
        assert "stopped" not in server.output


def test_a_transaction_can_still_be_committed(tmp_path: Path) -> None:
    patient, data = configured(tmp_path, PATIENT), str(tmp_path / "lake")
    with serving("--config", patient, data=data) as server, fl.connect(server.uri) as client, apart(server) as other:
        for sql in ("CREATE TABLE kept (x INT)", "BEGIN", "INSERT INTO kept VALUES (1)"):
            ask(client, sql)
        held = ask(other, ENDLESS)
        held.read_chunk()
        server.process.send_signal(signal.SIGTERM)
        assert eventually(lambda: get(server, "/ready")[0] == 503)
        ask(client, "INSERT INTO kept VALUES (2)")
        ask(client, "COMMIT")
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(PATIENCE) == 0
        assert eventually(lambda: "stopped." in server.output), server.output
    with serving(data=data) as server, fl.connect(server.uri) as client:
        assert ask(client, "SELECT x FROM kept ORDER BY x").read_all().to_pydict() == {"x": [1, 2]}


# --- reading anew ------------------------------------------------------------------------------------------------


def reloaded(server: Serving, said: str) -> None:
    before = server.output.count("eloaded: ")
    server.process.send_signal(signal.SIGHUP)
    assert eventually(lambda: server.output.count("eloaded: ") > before), server.output
    assert said in server.output.split("eloaded: ")[-1]


def test_catalogs_and_users_are_read_again(tmp_path: Path) -> None:
    users = '[server.users]\nann = "geheim"\nbob = "hush"\n'
    first = (
        f'{users}[catalogs.one]\ntype = "sqlite"\nlocation = "one"\n[catalogs.two]\ntype = "sqlite"\nlocation = "two"\n'
    )
    config = configured(tmp_path, first)
    with serving("--config", config) as server, server.connect(**as_user("ann", "geheim")) as connection:
        rows(connection, "USE one")
        rows(connection, "CREATE NAMESPACE n")
        configured(
            tmp_path,
            '[server.users]\nann = "geheim"\ncarl = "neu"\n[engine]\nbatch_size = 9\n'
            '[catalogs.one]\ntype = "sqlite"\nlocation = "one"\n'
            '[catalogs.three]\ntype = "sqlite"\nlocation = "three"\n',
        )
        reloaded(server, "catalogs added: three; catalogs removed: two; needs a restart: engine.batch_size")
        assert eventually(lambda: "users changed: bob, carl" in server.output)
        shown = {name for name, *_ in rows(connection, "SHOW CATALOGS")}
        assert {"one", "three"} <= shown
        assert "two" not in shown
        assert rows(connection, "SELECT current_catalog") == [("one",)]  # the session went on
        assert one(server, **as_user("carl", "neu")) == ("carl",)
        with pytest.raises(adbc.Error, match=r"(?i)unauthenticated"):
            one(server, **as_user("bob", "hush"))
        configured(tmp_path, "[server.users\n")
        reloaded(server, "CONFIG_ERROR")
        assert one(server, **as_user("carl", "neu")) == ("carl",)
        configured(tmp_path, "")
        reloaded(server, "authentication at all is decided at the start")
        assert "Traceback" not in server.output


def test_certificates_are_read_again(tmp_path: Path) -> None:
    cert, key = certificate(tmp_path)
    old = cert.read_text()
    with serving("--host", "localhost", "--tls-cert", str(cert), "--tls-key", str(key)) as server:
        trusting = {"tls_root_certs": old}
        with fl.connect(server.uri, **trusting) as client:
            reader = ask(client, "SELECT value FROM range(3000000)")
            reader.read_chunk()
            certificate(tmp_path)
            reloaded(server, "certificates changed")
            assert sum(chunk.data.num_rows for chunk in reader) > 2_000_000  # what ran goes on
        with fl.connect(server.uri, tls_root_certs=cert.read_text()) as client:
            assert ask(client, "SELECT 1 AS x").read_all().to_pydict() == {"x": [1]}
        with fl.connect(server.uri, **trusting) as client, pytest.raises(fl.FlightUnavailableError):
            ask(client, "SELECT 1")
        assert server.stop() == 0


# --- limits ------------------------------------------------------------------------------------------------------

TOKENS = '[server.tokens]\nann = "a"\nbob = "b"\n[server.statements]\n'


def limited(directory: Path, limits: str) -> str:
    return configured(directory, TOKENS + limits)


def test_statements_wait_their_turn_and_light_ones_do_not(tmp_path: Path) -> None:
    with serving("--config", limited(tmp_path, "running = 1")) as server, fl.connect(server.uri) as client:
        options = fl.FlightCallOptions(headers=[(b"authorization", b"Bearer a")])
        held = _ask(client, ENDLESS, options)
        held.read_chunk()
        with server.connect(**with_token("b")) as bob:
            waiting = in_thread(lambda: one_row(server, "SELECT count(*) FROM range(5)"))
            queued = "SELECT count(*) FROM system.runtime.queries WHERE state = 'QUEUED'"
            assert eventually(lambda: rows(bob, queued) == [(1,)])
            assert rows(bob, "SELECT 1") == [(1,)]
            assert figures(server)['pinakes_queries{state="QUEUED"}'] == 1
            held.cancel()
            assert waiting() == (5,)
            assert eventually(lambda: figures(server)['pinakes_pool_in_use{pool="statements"}'] == 0)


def one_row(server: Serving, sql: str) -> tuple[object, ...]:
    with server.connect(**with_token("b")) as connection:
        return rows(connection, sql)[0]


def _ask(client: fl.FlightClient, sql: str, options: fl.FlightCallOptions) -> fl.FlightStreamReader:
    from pinakes.flight.wire.messages import message, pack

    command = fl.FlightDescriptor.for_command(pack(message("CommandStatementQuery")(query=sql)))
    return client.do_get(client.get_flight_info(command, options).endpoints[0].ticket, options)


@pytest.mark.parametrize(
    ("limits", "act", "said"),
    [
        (
            "text_size = 100",
            lambda c: rows(c, "SELECT " + "1 + " * 100 + "1"),
            "INVALID_ARGUMENT: the statement has 408",
        ),
        ("timeout = '1s'", lambda c: rows(c, LONG), "QUERY_TIMEOUT: .*the timeout of this server of 1 s"),
        ("parameters_size = 100", lambda c: bound(c, "x" * 1000), "INVALID_ARGUMENT: the parameters are larger"),
    ],
)
def test_what_is_too_much_is_refused(
    tmp_path: Path, limits: str, act: Callable[[adbc.Connection], object], said: str
) -> None:
    with serving("--config", limited(tmp_path, limits)) as server, server.connect(**with_token("a")) as connection:
        with pytest.raises(adbc.Error, match=said):
            act(connection)
        assert eventually(lambda: _is_answered(connection))


def _is_answered(connection: adbc.Connection) -> bool:
    """On a busy machine, that may take longer than the timeout."""
    try:
        return rows(connection, "SELECT 1") == [(1,)]
    except adbc.Error as error:
        if "QUERY_TIMEOUT" not in str(error):
            raise
        return False


def bound(connection: adbc.Connection, value: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT ?", (value,))
        cursor.fetchall()


def test_results_and_sessions_of_one_user_are_bounded(tmp_path: Path) -> None:
    from pinakes.flight.wire.messages import message, pack

    config = limited(tmp_path, "results_per_user = 3\nsessions_per_user = 2")
    ann, bob = (fl.FlightCallOptions(headers=[(b"authorization", f"Bearer {t}".encode())]) for t in "ab")
    command = fl.FlightDescriptor.for_command(pack(message("CommandStatementQuery")(query="SELECT 1 AS x")))
    with serving("--config", config) as server:
        with fl.connect(server.uri) as client:
            tickets = [client.get_flight_info(command, ann).endpoints[0].ticket for _ in range(3)]
            with pytest.raises(fl.FlightUnavailableError, match="SERVER_BUSY: too many unfetched results"):
                client.get_flight_info(command, ann)
            client.get_flight_info(command, bob)
            client.do_get(tickets[0], ann).read_all()
            client.get_flight_info(command, ann)
        for _ in range(5):  # each is a session more, and the oldest idle one goes
            with server.connect(**with_token("b")) as connection:
                assert rows(connection, "SELECT count(*) <= 2 FROM system.runtime.sessions") == [(True,)]


def test_others_queries_are_not_killed_over_the_wire(tmp_path: Path) -> None:
    with serving("--config", limited(tmp_path, "")) as server, fl.connect(server.uri) as client:
        ann = fl.FlightCallOptions(headers=[(b"authorization", b"Bearer a")])
        held = _ask(client, ENDLESS, ann)
        held.read_chunk()
        with server.connect(**with_token("a")) as own, server.connect(**with_token("b")) as other:
            found = f"SELECT query_id FROM system.runtime.queries WHERE query = '{ENDLESS}'"
            ((query_id,),) = rows(own, found)
            assert rows(other, found) == []
            with pytest.raises(adbc.Error, match="NOT_FOUND"):
                rows(other, f"CALL system.runtime.kill_query('{query_id}')")
            rows(own, f"CALL system.runtime.kill_query('{query_id}', 'made room')")
            with pytest.raises((fl.FlightCancelledError, fl.FlightError), match="killed by ann: made room"):
                list(held)
