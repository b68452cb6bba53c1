"""Promises: rows of a local worker come at 0.5 or more of the rate at which pyarrow reads the same Arrow stream from a
pipe; a warm call takes less than 1 ms; ATTACH of a worker less than 300 ms more than its interpreter takes to start;
and the SDK less than 100 ms more to import than pyarrow.

    python benchmarks/worker.py [--rows 100000000] [--rounds 3]
"""

from __future__ import annotations

import argparse
import fcntl
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from _harness import Times, calibrate, compare, promise, report, timed
from pyarrow import ipc

import pinakes
from pinakes.worker.client import Client
from pinakes.worker.client.catalog_mixin import CatalogClientMixin

USERS = Path(__file__).parents[1] / "examples" / "workers" / "users.py"
BATCH = 262_144
WORKER = f"""
import sys
import pyarrow as pa
from pinakes.worker import TableFunctionGenerator, Worker

BATCH = pa.record_batch({{"a": pa.array(range({BATCH})), "b": pa.array(range({BATCH}))}})

class Rows(TableFunctionGenerator):
    ARGUMENTS = pa.schema([("n", pa.int64())])
    FIXED_SCHEMA = BATCH.schema

    @classmethod
    def initial_state(cls, params):
        return [params.arguments["n"]]

    @classmethod
    def process(cls, params, state, out):
        out.emit(BATCH.slice(0, min(BATCH.num_rows, state[0])))
        state[0] -= BATCH.num_rows
        if state[0] <= 0:
            out.finish()

class Bench(Worker):
    catalog_name, functions = "bench", [Rows]

if sys.argv[1:] and sys.argv[1].isdigit():
    print("ready", file=sys.stderr)
    sys.stderr.flush()
    sys.stdin.read(1)
    with pa.ipc.new_stream(sys.stdout.buffer, BATCH.schema) as writer:
        left = int(sys.argv[1])
        while left > 0:
            writer.write_batch(BATCH.slice(0, min(BATCH.num_rows, left)))
            left -= BATCH.num_rows
else:
    Bench().run()
"""


class CatalogClient(CatalogClientMixin, Client):
    """With the methods of catalogs."""


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=100_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    with TemporaryDirectory() as place:
        path = Path(place) / "worker.py"
        path.write_text(WORKER)
        calibrate()
        _rows(path, arguments.rows, arguments.rounds)
        _calls(path)
    _attach(max(3, arguments.rounds))
    _imports(max(5, arguments.rounds))


def _rows(path: Path, rows: int, rounds: int) -> None:
    with pinakes.connect(data=":memory:") as connection:
        connection.execute(f"ATTACH 'bench' (TYPE vgi, LOCATION '{sys.executable} {path}')")

        def ours() -> None:
            found = connection.sql(f"SELECT * FROM bench.main.rows({rows})").reader()
            assert sum(batch.num_rows for batch in found) == rows

        taken = [(timed(ours, 1), _piped(path, rows)) for _ in range(rounds + 1)][1:]
    mine, theirs = (
        Times(median(t.wall for t in side), median(t.cpu for t in side)) for side in zip(*taken, strict=True)
    )
    report(f"{rows:,} rows of a worker", mine, theirs, "pyarrow, from a pipe")
    promise("time of a worker's rows, by that of pyarrow from a pipe", mine.wall / theirs.wall, 2.0)


def _piped(path: Path, rows: int) -> Times:
    """pyarrow, reading the same stream from a program that has started already, as the worker has, through a pipe that
    is as wide as the worker's."""
    command, pipe = [sys.executable, str(path), str(rows)], subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe) as process:
        said, out, err = process.stdin, process.stdout, process.stderr
        assert said is not None
        assert out is not None
        assert err is not None
        err.readline()
        fcntl.fcntl(out, fcntl.F_SETPIPE_SZ, 1 << 20)

        def read() -> None:
            said.write(b"!")
            said.flush()
            assert sum(batch.num_rows for batch in ipc.open_stream(out)) == rows

        return timed(read, 1)


def _calls(path: Path) -> None:
    with CatalogClient(f"{sys.executable} {path}") as client:
        attached = client.catalog_attach(name="bench").attach_opaque_data
        taken = []
        for _ in range(500):
            began = time.perf_counter()
            client.catalog_version(attach_opaque_data=attached)
            taken.append(time.perf_counter() - began)
    promise("a warm call", median(taken) * 1e3, 1.0, " ms")
    print(f"         at best: {min(taken) * 1e3:.3g} ms")


def _attach(rounds: int) -> None:
    """The worker is the example of the documentation: it makes its arrays when it is asked for rows. (One that makes
    some while it starts lets pyarrow import pandas, where that is installed, which takes a second.) The peer is an
    interpreter that starts, imports pyarrow, as every worker does, and ends."""
    with pinakes.connect(data=":memory:") as connection:

        def ours() -> None:
            connection.execute(f"ATTACH 'users' (TYPE vgi, CATALOG 'myapp', LOCATION '{sys.executable} {USERS}')")
            connection.execute("DETACH users")

        mine, theirs = compare(ours, _starting("import pyarrow"), rounds=rounds)
    promise("ATTACH, more than an interpreter with pyarrow", (mine.wall - theirs.wall) * 1e3, 300, " ms")


def _imports(rounds: int) -> None:
    sdk = "import pyarrow, pinakes.worker, pinakes.worker.catalog"
    mine, theirs = compare(_starting(sdk), _starting("import pyarrow"), rounds=rounds)
    promise("import of the SDK, more than pyarrow", (mine.wall - theirs.wall) * 1e3, 100, " ms")
    print(f"         CPU: {(mine.cpu - theirs.cpu) * 1e3:.3g} ms")


def _starting(code: str) -> Callable[[], object]:
    return lambda: subprocess.run([sys.executable, "-c", code], check=True)


if __name__ == "__main__":
    main()
