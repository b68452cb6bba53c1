"""Promise: a result of 1 M rows to `--format arrow` or csv, or into a file with COPY, takes less than 400 MB over what
the idle command takes. Beside it the speed, against DuckDB and against bare DataFusion with Arrow's own writers.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet as pq
from _harness import compare, promise, report
from datafusion import SessionConfig, SessionContext

from pinakes.api.build import open_engine
from pinakes.cli.formats import writer
from pinakes.config.model import load_config
from pinakes.engine.result import Result

ROWS = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
ROUNDS = 7
LIMIT_MB = 400


def main() -> None:
    with tempfile.TemporaryDirectory() as directory:
        here = Path(directory)
        source = here / "source.parquet"
        pq.write_table(data(), source)
        memory(here, source)
        speed(here, source)


def data() -> pa.Table:
    """Ten columns of the usual types."""
    n = pa.arange(0, ROWS)
    text = n.cast(pa.string())
    day = pc.bit_wise_and(n, 0x3FFF).cast(pa.int32()).cast(pa.date32())
    return pa.table(
        {
            "id": n,
            "small": pc.bit_wise_and(n, 1023).cast(pa.int32()),
            "big": pc.multiply(n, 1_000_003),
            "ratio": pc.divide(n.cast(pa.float64()), 7.0),
            "price": n.cast(pa.decimal128(21, 2)),
            "name": pc.binary_join_element_wise("customer number ", text, ""),
            "word": pc.utf8_slice_codeunits(text, 0, 2),
            "comment": pc.binary_join_element_wise("a comma, ", text, ""),
            "day": day,
            "at": pc.multiply(n, 1_000_003_000).cast(pa.timestamp("us")),
        }
    )


# --- memory ------------------------------------------------------------------------------------------------------


def memory(here: Path, source: Path) -> None:
    """Peaks of the real command, each in a process of its own."""
    idle = peak_mb("select 1", "csv")
    print(f"peak memory: {ROWS:,} rows of ten columns, over the {idle:.0f} MB of the idle command")
    for name in ("arrow", "csv", "jsonl"):
        promise(f"--format {name}", peak_mb(f"select * from '{source}'", name) - idle, LIMIT_MB, " MB")
    for name in ("x.parquet", "x.csv"):
        sql = f"copy (select * from '{source}') to '{here / name}'"
        promise(f"COPY to {name}", peak_mb(sql, "csv") - idle, LIMIT_MB, " MB")


MEASURE = """
import os, subprocess, sys
process = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL)
_, status, usage = os.wait4(process.pid, 0)
print(usage.ru_maxrss)
os._exit(os.waitstatus_to_exitcode(status))
"""
"""A process of its own starts the command: the peak of a child counts from the size of whoever starts it."""


def peak_mb(sql: str, format: str) -> float:
    command = [sys.executable, "-m", "pinakes", "--data", ":memory:", "--format", format, "-c", sql]
    done = subprocess.run([sys.executable, "-u", "-c", MEASURE, *command], stdout=subprocess.PIPE, check=True)
    return int(done.stdout) / 1024


# --- speed -------------------------------------------------------------------------------------------------------


def speed(here: Path, source: Path) -> None:
    duck = duckdb.connect()
    # Arrow's writer of CSV knows no views.
    bare = SessionContext(SessionConfig().set("datafusion.execution.parquet.schema_force_view_types", "false"))
    bare.register_parquet("source", source)
    with open_engine(load_config(data=":memory:")) as engine:
        session = engine.session()
        for ending in ("csv", "parquet"):
            ours, theirs = (f"COPY (SELECT * FROM '{source}') TO '{here / who}.{ending}'" for who in ("us", "them"))
            contest(f"COPY to {ending}", partial(session.run, ours), partial(duck.execute, theirs), "DuckDB")
        query = f"SELECT * FROM '{source}'"
        target = here / "rows"
        for format, peer in (("csv", bare_csv), ("arrow", bare_arrow)):

            def mine(format: str = format) -> None:
                written(session.run(query), format, target)

            contest(f"--format {format}", mine, partial(peer, bare, target), "bare DataFusion, Arrow's writer")


def contest(name: str, ours: Callable[[], object], peer: Callable[[], object], peer_name: str) -> None:
    mine, theirs = compare(ours, peer, rounds=ROUNDS)
    report(f"{name}: {ROWS:,} rows", mine, theirs, peer_name)


def written(result: Result, format: str, target: Path) -> None:
    with target.open("w", encoding="utf-8") as out:
        writer(format)(result, out, None)


def bare_csv(bare: SessionContext, target: Path) -> None:
    frame = bare.sql("SELECT * FROM source")
    with pa.csv.CSVWriter(str(target), frame.schema()) as out:
        for batch in frame.execute_stream():
            out.write_batch(batch.to_pyarrow())


def bare_arrow(bare: SessionContext, target: Path) -> None:
    frame = bare.sql("SELECT * FROM source")
    with pa.ipc.new_stream(str(target), frame.schema()) as out:
        for batch in frame.execute_stream():
            out.write_batch(batch.to_pyarrow())


if __name__ == "__main__":
    main()
