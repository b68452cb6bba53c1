"""Promises of the Flight SQL server, through ADBC: a Parquet table of 12 M rows streams at 0.9 or more of the speed at
which the same process reads it without Flight, a table in memory at 0.6 or more of a raw Flight server that has its
rows at hand, and `select 1` takes at most 2.5 times as long as four calls of a raw Flight server that does nothing.

Server and client are processes of their own. The peer's rows are read by pyarrow, which is quicker than ADBC's driver:
so the table in memory is read by both. `python benchmarks/flight.py 1000000` takes fewer rows.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median

import adbc_driver_flightsql.dbapi as adbc
import pyarrow.flight as fl
from _harness import Times, promise, report, timed

import pinakes
from pinakes.flight.wire.messages import message, pack
from tests.flight.serving import TICK, Serving, serving

ROWS = int(sys.argv[1]) if len(sys.argv) > 1 else 12_000_000
ROUNDS = 7
SINGLE_ROUNDS, SINGLE_CALLS = 15, 40
COLUMNS = "value AS id, value % 1000 AS small, value * 0.5 AS x, concat('word ', value % 1000003) AS word"

RAW = """
import sys
import pyarrow as pa
import pyarrow.flight as fl

class Raw(fl.FlightServerBase):
    def __init__(self, rows):
        super().__init__("grpc://127.0.0.1:0")
        n = pa.array(range(65536), pa.int64())
        batch = pa.record_batch({"id": n, "small": n, "x": n.cast(pa.float64()), "n": n})
        self.schema, self.batches = batch.schema, [batch] * (rows // 65536)
        self.one = pa.record_batch({"1": [1]})
    def get_flight_info(self, context, descriptor):
        ticket = fl.Ticket(descriptor.command)
        return fl.FlightInfo(self.one.schema, descriptor, [fl.FlightEndpoint(ticket, [])], -1, -1)
    def do_get(self, context, ticket):
        if ticket.ticket == b"one":
            return fl.GeneratorStream(self.one.schema, iter([self.one]))
        return fl.GeneratorStream(self.schema, iter(self.batches))
    def do_action(self, context, action):
        return [b"x" * 200]

server = Raw(int(sys.argv[1]))
print(server.port, flush=True)
server.serve()
"""

HELD = """
import os, sys, time
os.environ["TOKIO_WORKER_THREADS"] = "8"
import pyarrow as pa
from pinakes.api.build import open_engine
from pinakes.config.model import load_config
from pinakes.engine.datafusion.memory_sources import Rows
from pinakes.server.logins.base import Anybody
from pinakes.flight.server import FlightSqlServer

n = pa.array(range(65536), pa.int64())
batch = pa.record_batch({"id": n, "small": n, "x": n.cast(pa.float64()), "n": n})
held = Rows(pa.Table.from_batches([batch] * (int(sys.argv[1]) // 65536)))
with open_engine(load_config(data=":memory:")) as engine:
    server = FlightSqlServer(engine, "grpc://127.0.0.1:0", Anybody())
    print(server.port, flush=True)
    while True:
        for connection in server._service.connections.all():
            connection.session.temporary.put("held", held)
        time.sleep(0.05)
"""
"""Our server, with a table in memory that every session has."""


def main() -> None:
    with tempfile.TemporaryDirectory() as directory, serving() as server, started(RAW) as (pid, uri):
        raw = Raw(pid, uri)
        parquet = Path(directory) / "rows.parquet"
        with pinakes.connect(data=":memory:") as local:
            local.execute(f"COPY (SELECT {COLUMNS} FROM range({ROWS})) TO '{parquet}'")
            calibrate(raw)
            streaming(server, local, parquet)
        with started(HELD) as (holding, address):
            in_memory(holding, address, raw)
        single(server, raw)


# --- what takes part ---------------------------------------------------------------------------------------------


class Raw:
    """A server of bare pyarrow, and its client."""

    def __init__(self, pid: int, uri: str) -> None:
        self.pid = pid
        self.client = fl.connect(uri)

    def stream(self) -> int:
        return sum(chunk.data.num_rows for chunk in self.client.do_get(fl.Ticket(b"all")))

    def four_calls(self) -> None:
        """Those of a cursor: prepare, ask, fetch, close."""
        list(self.client.do_action(fl.Action("prepare", b"select 1")))
        info = self.client.get_flight_info(fl.FlightDescriptor.for_command(b"one"))
        self.client.do_get(info.endpoints[0].ticket).read_all()
        list(self.client.do_action(fl.Action("close", b"")))


@contextmanager
def started(program: str) -> Iterator[tuple[int, str]]:
    """A server's process and its address."""
    process = subprocess.Popen([sys.executable, "-c", program, str(ROWS)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield process.pid, f"grpc://127.0.0.1:{process.stdout.readline().strip()}"
    finally:
        process.kill()
        process.wait()


def rows_over(connection: adbc.Connection, sql: str) -> int:
    with connection.cursor() as cursor:
        cursor.execute(sql)
        return sum(batch.num_rows for batch in cursor.fetch_record_batch())


def in_turns(
    ours: Callable[[], object], peer: Callable[[], object], pids: tuple[int, int], rounds: int, calls: int = 1
) -> tuple[Times, Times]:
    """As `compare`, with the processor time of the servers."""
    taken: tuple[list[Times], list[Times]] = ([], [])
    for number in range(rounds + 1):
        for side, (call, pid) in enumerate(zip((ours, peer), pids, strict=True)):
            before = _cpu_of(pid)
            times = timed(call, calls)
            if number:
                taken[side].append(Times(times.wall, times.cpu + (_cpu_of(pid) - before) / calls))
    mine, theirs = (Times(median(t.wall for t in side), median(t.cpu for t in side)) for side in taken)
    return mine, theirs


def _cpu_of(pid: int) -> float:
    """Seconds of processor time, to a hundredth; 0 for none."""
    if not pid:
        return 0.0
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICK


# --- the promises ------------------------------------------------------------------------------------------------


def calibrate(raw: Raw) -> None:
    """What this machine does at this moment."""
    stream, calls = timed(raw.stream, 3), timed(raw.four_calls, 200)
    size = ROWS // 65536 * 65536 * 32
    print(f"calibration: raw Flight {size / stream.wall / 1e9:.2f} GB/s, four raw calls {calls.wall * 1e3:.2f} ms")


def streaming(server: Serving, local: pinakes.Connection, parquet: Path) -> None:
    sql = f"SELECT * FROM '{parquet}'"
    with server.connect() as connection:
        mine, theirs = in_turns(
            lambda: rows_over(connection, sql),
            lambda: sum(batch.num_rows for batch in local.session.run(sql)),
            (server.process.pid, 0),
            ROUNDS,
        )
    report(f"Parquet, {ROWS:,} rows", mine, theirs, "in process")
    promise("wall over the peer's (a speed of 0.9)", mine.wall / theirs.wall, 1 / 0.9, " times")


def in_memory(pid: int, uri: str, raw: Raw) -> None:
    with adbc.connect(uri, autocommit=True) as connection, fl.connect(uri) as client:
        rows_over(connection, "SELECT 1")
        rows_of(client, "SELECT 1")
        time.sleep(0.2)  # their sessions get the table
        clients = {
            "ADBC": lambda: rows_over(connection, "SELECT * FROM held"),
            "pyarrow": lambda: rows_of(client, "SELECT * FROM held"),
        }
        for name, read in clients.items():
            mine, theirs = in_turns(read, raw.stream, (pid, raw.pid), ROUNDS)
            report(f"in memory, {ROWS // 65536 * 65536:,} rows, by {name}", mine, theirs, "raw Flight")
            promise("wall over the peer's (a speed of 0.6)", mine.wall / theirs.wall, 1 / 0.6, " times")


def rows_of(client: fl.FlightClient, sql: str) -> int:
    command = pack(message("CommandStatementQuery")(query=sql))
    info = client.get_flight_info(fl.FlightDescriptor.for_command(command))
    return sum(chunk.data.num_rows for chunk in client.do_get(info.endpoints[0].ticket))


def single(server: Serving, raw: Raw) -> None:
    with server.connect() as connection, connection.cursor() as cursor:

        def ask() -> None:
            cursor.execute("select 1")
            cursor.fetchall()

        mine, theirs = in_turns(ask, raw.four_calls, (server.process.pid, raw.pid), SINGLE_ROUNDS, SINGLE_CALLS)
    report("select 1", mine, theirs, "four calls of raw Flight")
    promise("wall over the peer's", mine.wall / theirs.wall, 2.5, " times")


if __name__ == "__main__":
    main()
