"""Writing lineitem: INSERT … SELECT against DataFusion's COPY and pyiceberg's append, the memory it takes, and how
what was written is read.

    python benchmarks/write.py [--data DIRECTORY] [--larger DIRECTORY] [--scale 0.1] [--rounds 3]

The directories hold lineitem.parquet, the larger one three times as much of it: memory must not grow with the rows.
Without them both are generated (`_extensions.py`).
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pyarrow.parquet as pq
from _extensions import generated
from _harness import compare, promise, report
from _tpch import QUERIES
from datafusion import SessionContext

import pinakes
from pinakes.core.names import Name

COPY = "COPY (SELECT * FROM lineitem) TO '{}/' STORED AS PARQUET OPTIONS ({})"
COPIES = {
    "DataFusion COPY, its defaults (zstd)": "'format.compression' 'zstd(3)'",
    "DataFusion COPY, our layout (lz4, 256k rows)": (
        "'format.compression' 'lz4_raw', 'format.max_row_group_size' '262144'"
    ),
}
"""Another codec is another amount of work: the second is the fair one."""
READ = (1, 6)
"""The queries that read nothing but lineitem."""


def main() -> None:
    arguments = _arguments()
    if arguments.child:
        print(json.dumps(_peak(arguments.data)))
        return
    with tempfile.TemporaryDirectory() as scratch:
        smaller = arguments.data or generated("tpch", arguments.scale, Path(scratch) / "data")
        larger = arguments.larger or generated("tpch", f"{3 * float(arguments.scale):g}", Path(scratch) / "larger")
        if smaller is None or larger is None:
            print("no data: give --data and --larger, or install tpchgen-cli or duckdb-extension-tpch")
            return
        _speed(smaller / "lineitem.parquet", Path(scratch), arguments.rounds)
        _memory(smaller, larger)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", type=Path)
    parser.add_argument("--larger", type=Path)
    parser.add_argument("--scale", default="0.1")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args()


# --- speed -------------------------------------------------------------------------------------------------------


def _speed(source: Path, scratch: Path, rounds: int) -> None:
    with pinakes.connect(data=f"{scratch}/lake") as connection:
        connection.execute(f"CREATE TABLE lineitem AS SELECT * FROM '{source}' LIMIT 0")
        connection.execute("CREATE TABLE theirs (LIKE lineitem)")
        ours = partial(_insert, connection, source)
        for name, options in COPIES.items():
            mine, peer = compare(ours, partial(_copy, source, scratch / "copied", options), rounds=rounds)
            report("INSERT … SELECT of lineitem", mine, peer, name)
            promise("against COPY, cpu", mine.cpu / peer.cpu, 1.3)
            promise("against COPY", mine.wall / peer.wall, 1.3)
        mine, peer = compare(ours, partial(_append, connection, source), rounds=1)
        report("INSERT … SELECT of lineitem", mine, peer, "pyiceberg append")
        promise("against pyiceberg", mine.wall / peer.wall, 1)
        _reads(connection, source, scratch / "read", rounds)


def _insert(connection: pinakes.Connection, source: Path) -> None:
    """Into an empty table each time; emptying it costs a commit."""
    connection.execute("DELETE FROM lineitem")
    connection.execute(f"INSERT INTO lineitem SELECT * FROM '{source}'")


def _copy(source: Path, target: Path, options: str) -> None:
    shutil.rmtree(target, ignore_errors=True)
    context = SessionContext()
    context.register_parquet("lineitem", str(source))
    context.sql(COPY.format(target, options)).collect()


def _append(connection: pinakes.Connection, source: Path) -> None:
    handle = connection.session.resolver.table(Name.of("theirs"))[1].handle
    handle.append(pq.read_table(source).cast(handle.schema().as_arrow()))


def _reads(connection: pinakes.Connection, source: Path, only: Path, rounds: int) -> None:
    """The same queries on our files and on those that the rows came from, by DataFusion alone. The table's directory
    has the files of every round in it, so those of the last are read from one of their own."""
    handle = connection.session.resolver.table(Name.of("lineitem"))[1].handle
    only.mkdir()
    for task in handle.scan().plan_files():
        path = Path(task.file.file_path.removeprefix("file://"))
        (only / path.name).symlink_to(path)
    rows = sum(pq.read_metadata(file).num_rows for file in only.iterdir())
    assert rows == pq.read_metadata(source).num_rows, f"{rows} rows are not those that were written"
    for number in READ:
        run = partial(_query, QUERIES[number])
        mine, peer = compare(run(f"{only}/"), run(str(source)), rounds=max(rounds, 5))
        report(f"TPC-H Q{number} on the files", mine, peer, "the files as they came")
        promise("against these, cpu", mine.cpu / peer.cpu, 1)


def _query(sql: str, files: str) -> Callable[[], object]:
    context = SessionContext()
    context.register_parquet("lineitem", files)
    return lambda: context.sql(sql).collect()


# --- memory ------------------------------------------------------------------------------------------------------


def _memory(smaller: Path, larger: Path) -> None:
    found = [_in_child(data) for data in (smaller, larger)]
    for data, peak in zip((smaller, larger), found, strict=True):
        print(f"memory of the INSERT, {pq.read_metadata(data / 'lineitem.parquet').num_rows} rows: {peak:.0f} MB")
    promise("peak", max(found), 1500, " MB")
    promise("three times the rows", found[1] / found[0], 1.2)


def _in_child(data: Path) -> float:
    command = [sys.executable, __file__, "--child", f"--data={data}"]
    answer: float = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    return answer


def _peak(data: Path) -> float:
    """The most memory that a process had which did nothing but the INSERT, in MB."""
    with tempfile.TemporaryDirectory() as scratch, pinakes.connect(data=f"{scratch}/lake") as connection:
        source = data / "lineitem.parquet"
        connection.execute(f"CREATE TABLE lineitem AS SELECT * FROM '{source}' LIMIT 0")
        connection.execute(f"INSERT INTO lineitem SELECT * FROM '{source}'")
    # Not ru_maxrss: a process begins with that of the one that started it.
    status = Path("/proc/self/status").read_text()
    return int(next(line for line in status.splitlines() if line.startswith("VmHWM")).split()[1]) / 1024


if __name__ == "__main__":
    main()
