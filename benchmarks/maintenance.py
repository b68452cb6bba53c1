"""A table of 10,000 small files, written anew: it is read as quickly as one that was written at once.

    python benchmarks/maintenance.py [--data DIRECTORY] [--scale 1] [--files 10000] [--rounds 5] [--plot FILE]

The directory holds lineitem.parquet; without it, it is generated (`_extensions.py`). The peer is the same rows as
CREATE TABLE AS leaves them. What ANALYZE of the table takes is told beside it. --plot writes the bars of
docs/how-to/maintain-tables.md.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Mapping
from functools import partial
from pathlib import Path

from _extensions import generated
from _harness import compare, promise, report, timed
from _plot import bars

import pinakes

QUERIES: Mapping[str, str] = {
    "count": "SELECT count(*) FROM {} WHERE l_quantity >= 0",
    "sum": "SELECT sum(l_extendedprice * l_discount) FROM {}",
    "group": "SELECT l_returnflag, l_linestatus, sum(l_quantity), avg(l_extendedprice) FROM {} GROUP BY 1, 2",
    "filter": "SELECT sum(l_extendedprice) FROM {} WHERE l_shipdate BETWEEN DATE '1994-01-01' AND DATE '1994-12-31'",
    "texts": "SELECT count(DISTINCT l_shipmode), max(length(l_comment)) FROM {}",
}
SMALL = "small"
"""The table of small files; `whole` is its peer."""


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", type=Path)
    parser.add_argument("--scale", default="1")
    parser.add_argument("--files", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--plot", type=Path)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        data = arguments.data or generated("tpch", arguments.scale, Path(scratch) / "data")
        if data is None:
            print("no data: give --data, or install tpchgen-cli or duckdb-extension-tpch")
            return
        with pinakes.connect(data=f"{scratch}/lake") as connection:
            _make(connection, data / "lineitem.parquet", arguments.files)
            before = _seconds(connection, 1)
            _maintain(connection)
            after = _compared(connection, arguments.rounds)
    if arguments.plot is not None:
        arguments.plot.write_text(_picture(arguments.files, before, after))


def _make(connection: pinakes.Connection, lineitem: Path, files: int) -> None:
    """Files are closed when they are as small as that, for the time being; what is so small takes more room."""
    run, limit = connection.execute, "write.target-file-size-bytes"
    run(f"CREATE TABLE whole AS SELECT * FROM '{lineitem}'")
    rows = _number(connection, "SELECT count(*) FROM whole")
    size = _number(connection, 'SELECT sum(file_size_in_bytes) FROM "whole$files"')
    run("CREATE TABLE small LIKE whole")
    run(f"ALTER TABLE small SET PROPERTIES ('{limit}' = '{3 * size // (2 * files)}')")
    run("INSERT INTO small SELECT * FROM whole")
    run(f"ALTER TABLE small UNSET PROPERTIES ('{limit}')")
    print(f"{rows:,} rows in {_files(connection, SMALL):,} files; written at once: {_files(connection, 'whole')}")


def _maintain(connection: pinakes.Connection) -> None:
    for statement in ("CALL system.rewrite_data_files('small')", "ANALYZE small"):
        began = time.perf_counter()
        connection.execute(statement)
        print(f"{statement}: {time.perf_counter() - began:.1f} s")
    print(f"files by then: {_files(connection, SMALL)}")


def _seconds(connection: pinakes.Connection, calls: int) -> dict[str, float]:
    """Of each query, on the table of small files as it is; the first time does not count."""
    found = {}
    for name, query in QUERIES.items():
        run = partial(_read, connection, query.format(SMALL))
        run()
        found[name] = timed(run, calls).wall
        print(f"{name}: {found[name] * 1e3:.0f} ms before")
    return found


def _compared(connection: pinakes.Connection, rounds: int) -> dict[str, tuple[float, float]]:
    found = {}
    for name, query in QUERIES.items():
        sides = [partial(_read, connection, query.format(table)) for table in (SMALL, "whole")]
        ours, peer = compare(*sides, rounds=rounds, calls=2)
        report(f"{name}, after", ours, peer, "written at once")
        found[name] = ours.wall, peer.wall
    ours, peer = (sum(side) for side in zip(*found.values(), strict=True))
    promise("all queries after rewrite_data_files, in times of the table written at once", ours / peer, 1.1)
    return found


def _read(connection: pinakes.Connection, query: str) -> None:
    connection.execute(query).fetchall()


def _picture(files: int, before: Mapping[str, float], after: Mapping[str, tuple[float, float]]) -> str:
    series = {
        "before": [seconds * 1e3 for seconds in before.values()],
        "after": [ours * 1e3 for ours, _ in after.values()],
        "written at once": [peer * 1e3 for _, peer in after.values()],
    }
    title = f"lineitem in some {files:,} files, before and after rewrite_data_files (ms)"
    return bars(title, list(before), series, gap=60)


def _number(connection: pinakes.Connection, query: str) -> int:
    row = connection.execute(query).fetchone()
    assert row is not None
    return int(row[0])


def _files(connection: pinakes.Connection, table: str) -> int:
    return _number(connection, f'SELECT count(*) FROM "{table}$files"')


if __name__ == "__main__":
    main()
