"""Long results: flat memory, pieces that every client takes, and an end when the client cancels or dies."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator

import adbc_driver_flightsql.dbapi as adbc
import pyarrow as pa
import pytest

from pinakes.flight.streams import MOST_BYTES, sliced
from tests.flight.serving import Serving, eventually, serving

ENDLESS = "SELECT sum(value % 7) FROM range(100000000000)"
ENDLESS_ROWS = "SELECT value FROM range(100000000000)"
ENDLESS_SORT = "SELECT value FROM range(100000000000) ORDER BY value % 1234577 LIMIT 10"


@pytest.fixture
def own_server() -> Iterator[Serving]:
    """One that nobody else keeps busy."""
    with serving() as running:
        yield running


def state_of(server: Serving, sql: str) -> str:
    with server.connect() as connection, connection.cursor() as cursor:
        cursor.execute("SELECT state FROM system.runtime.queries WHERE query = ? ORDER BY created DESC LIMIT 1", (sql,))
        row = cursor.fetchone()
    return "" if row is None else str(row[0])


def is_idle(server: Serving) -> bool:
    before = server.cpu()
    threading.Event().wait(0.5)
    return server.cpu() - before < 0.25


def is_busy(server: Serving) -> bool:
    before = server.cpu()
    return eventually(lambda: server.cpu() - before > 0.5)


@pytest.mark.slow
@pytest.mark.parametrize("millions", [4, pytest.param(30, marks=pytest.mark.long)])
def test_millions_of_rows_in_flat_memory(own_server: Serving, millions: int) -> None:
    with own_server.connect() as connection, connection.cursor() as cursor:
        cursor.execute("SELECT 1")
        cursor.fetchall()
        before = own_server.resident()
        cursor.execute(f"SELECT value, repeat('x', 100) AS text FROM range({millions * 1_000_000})")
        rows, most = 0, before
        for batch in cursor.fetch_record_batch():
            rows += batch.num_rows
            most = max(most, own_server.resident())
        assert rows == millions * 1_000_000
        assert most - before < 250 << 20, f"some {108 * millions} MB went through it"


@pytest.mark.slow
@pytest.mark.parametrize("sql", [ENDLESS, ENDLESS_ROWS, ENDLESS_SORT])
def test_cancel_stops_the_work(own_server: Serving, sql: str) -> None:
    with own_server.connect() as connection, connection.cursor() as cursor:
        failed: list[BaseException] = []

        def read() -> None:
            try:
                cursor.execute(sql)
                for _ in cursor.fetch_record_batch():
                    pass
            except (adbc.Error, OSError, pa.ArrowException) as error:
                failed.append(error)

        thread = threading.Thread(target=read)
        thread.start()
        assert is_busy(own_server)
        cursor.adbc_cancel()
        thread.join()
        assert failed
    assert eventually(lambda: is_idle(own_server))
    assert eventually(lambda: state_of(own_server, sql) == "CANCELED")


_CLIENT = """
import sys
import adbc_driver_flightsql.dbapi as adbc
connection = adbc.connect(sys.argv[1], autocommit=True)
cursor = connection.cursor()
cursor.execute(sys.argv[2])
for batch in cursor.fetch_record_batch():
    pass
"""


@pytest.mark.slow
@pytest.mark.parametrize("sql", [ENDLESS, ENDLESS_ROWS])
def test_a_client_that_is_killed_stops_the_work(own_server: Serving, sql: str) -> None:
    client = subprocess.Popen([sys.executable, "-c", _CLIENT, own_server.uri, sql], stderr=subprocess.DEVNULL)
    assert is_busy(own_server)
    client.kill()
    client.wait()
    assert eventually(lambda: is_idle(own_server))
    assert eventually(lambda: state_of(own_server, sql) == "CANCELED")


@pytest.mark.slow
def test_a_client_that_is_killed_while_it_changes_leaves_nothing(own_server: Serving) -> None:
    with own_server.connect() as connection, connection.cursor() as cursor:
        cursor.execute("CREATE TABLE half (n BIGINT)")
        sql = "INSERT INTO half SELECT value FROM range(100000000000) WHERE value % 1000003 = 1"
        client = subprocess.Popen([sys.executable, "-c", _CLIENT, own_server.uri, sql], stderr=subprocess.DEVNULL)
        assert is_busy(own_server)
        client.kill()
        client.wait()
        assert eventually(lambda: is_idle(own_server))
        assert eventually(lambda: state_of(own_server, sql) == "CANCELED")
        cursor.execute("SELECT count(*) FROM half")
        assert cursor.fetchone() == (0,)


def test_pieces_are_small_enough_for_every_client(server: Serving) -> None:
    with server.connect() as connection, connection.cursor() as cursor:
        cursor.execute("SELECT value, repeat('x', 1000) AS text FROM range(100000)")
        sizes = [batch.nbytes for batch in cursor.fetch_record_batch()]
    assert sum(sizes) > 100_000_000
    assert max(sizes) <= 2 * MOST_BYTES


def test_slices_hold_all_rows_in_order() -> None:
    texts = ["x" * 10] * 5_000 + ["y" * 4_000] * 5_000
    batch = pa.record_batch({"n": list(range(10_000)), "t": texts})
    pieces = list(sliced(batch, 100_000))
    assert pa.Table.from_batches(pieces).equals(pa.Table.from_batches([batch]))
    assert max(piece.nbytes for piece in pieces) <= 200_000


def test_one_large_row_is_not_split() -> None:
    batch = pa.record_batch({"t": ["x" * 1_000_000]})
    assert list(sliced(batch, 1000)) == [batch]


def test_a_batch_without_columns_or_rows() -> None:
    empty = pa.record_batch({"n": pa.array([], pa.int64())})
    assert list(sliced(empty)) == [empty]
