"""What people use on top of ADBC, many of them at once, and the documentation's own example."""

from __future__ import annotations

import re
import subprocess
import sys
import threading
from pathlib import Path

import adbc_driver_flightsql.dbapi as adbc
import pytest
from adbc_driver_flightsql import DatabaseOptions

from tests.flight.serving import Serving, eventually

DOCS = Path(__file__).parent.parent.parent / "docs/how-to/connect-flight-sql.md"


def test_the_example_of_the_documentation_runs(server: Serving) -> None:
    (block,) = re.findall(r"```python\n(.*?)```", DOCS.read_text(encoding="utf-8"), re.DOTALL)
    names: dict[str, object] = {}
    exec(block.replace("grpc://127.0.0.1:31337", server.uri), names)
    assert names["table"].to_pydict() == {"x": [1, 2], "y": [10, 20]}  # type: ignore[attr-defined]
    with server.connect() as connection, connection.cursor() as cursor:
        cursor.execute("SELECT sum(y) FROM loaded")
        assert cursor.fetchone() == (30,)


def test_a_client_with_cookies_keeps_its_session(server: Serving) -> None:
    cookies = {"db_kwargs": {DatabaseOptions.WITH_COOKIE_MIDDLEWARE.value: "true"}}
    with server.connect(**cookies) as connection, connection.cursor() as cursor:
        cursor.execute("SET time_zone = '+05:00'")
        cursor.execute("SHOW SESSION LIKE 'time_zone'")
        row = cursor.fetchone()
        assert row is not None
        assert row[1] == "+05:00"


def test_many_clients_at_once(server: Serving) -> None:
    answers: list[list[int]] = [[] for _ in range(16)]

    def ask(number: int) -> None:
        with server.connect() as connection, connection.cursor() as cursor:
            cursor.execute(f"CREATE TABLE at_once_{number} AS SELECT value AS n FROM range({number + 1})")
            for _ in range(5):
                cursor.execute(f"SELECT count(*) + ? FROM at_once_{number}", (number,))
                answers[number].append(cursor.fetchone()[0])  # type: ignore[index]

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == [[2 * number + 1] * 5 for number in range(16)]


def state_of(server: Serving, pattern: str) -> str:
    with server.connect() as connection, connection.cursor() as cursor:
        cursor.execute(
            "SELECT state FROM system.runtime.queries WHERE query LIKE ? ORDER BY created LIMIT 1", (pattern,)
        )
        row = cursor.fetchone()
    return "" if row is None else str(row[0])


_INGESTING = """
import sys
import adbc_driver_flightsql.dbapi as adbc
import pyarrow as pa
schema = pa.schema([("n", pa.int64())])
def batches():
    while True:
        yield pa.record_batch([pa.array(range(10_000), pa.int64())], schema=schema)
connection = adbc.connect(sys.argv[1], autocommit=True)
connection.cursor().adbc_ingest("endless", pa.RecordBatchReader.from_batches(schema, batches()), mode="create")
"""


@pytest.mark.slow
def test_a_client_that_is_killed_while_it_ingests_leaves_nothing(server: Serving, cursor: adbc.Cursor) -> None:
    client = subprocess.Popen([sys.executable, "-c", _INGESTING, server.uri], stderr=subprocess.DEVNULL)
    before = server.cpu()
    assert eventually(lambda: server.cpu() - before > 0.5)
    client.kill()
    client.wait()

    assert eventually(lambda: state_of(server, '%"endless"%') == "CANCELED")
    cursor.execute("SHOW TABLES LIKE 'endless'")
    assert cursor.fetchall() == []


_BINDING = """
import sys, time
import pyarrow as pa
import pyarrow.flight as fl
from pinakes.flight.wire.messages import message, pack, unpack
client = fl.connect(sys.argv[1])
request = pack(message("ActionCreatePreparedStatementRequest")(query="INSERT INTO bound VALUES (?)"))
(answer,) = client.do_action(fl.Action("CreatePreparedStatement", request))
handle = unpack(answer.body.to_pybytes())[1].prepared_statement_handle
command = pack(message("CommandPreparedStatementUpdate")(prepared_statement_handle=handle))
batch = pa.record_batch({"1": [1, 2, 3]})
writer, _ = client.do_put(fl.FlightDescriptor.for_command(command), batch.schema)
writer.write_batch(batch)
print("half", flush=True)
time.sleep(600)
"""


def test_rows_of_parameters_that_were_cut_off_are_not_used(server: Serving, cursor: adbc.Cursor) -> None:
    cursor.execute("CREATE TABLE bound (n BIGINT)")
    client = subprocess.Popen([sys.executable, "-c", _BINDING, server.uri], stdout=subprocess.PIPE, text=True)
    assert client.stdout is not None
    assert client.stdout.readline() == "half\n"
    client.kill()
    client.wait()
    client.stdout.close()
    threading.Event().wait(1)  # for rows to come that must not
    cursor.execute("SELECT n FROM bound")
    assert cursor.fetchall() == []
