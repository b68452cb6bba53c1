"""MERGE of 1 % of orders: only files that hold them are written anew, at about the cost of reading and writing them.

    python benchmarks/merge.py [--data DIRECTORY] [--scale 0.1] [--rounds 3]

The directory holds orders.parquet; without it, it is generated (`_extensions.py`).
The peer of each MERGE is `INSERT INTO … SELECT` of all rows of the files that the MERGE replaces, into a table of the
same partitioning. Measured twice: with keys that lie together (the newest orders), and with keys of every file.
"""

from __future__ import annotations

import argparse
import tempfile
from functools import partial
from pathlib import Path

from _extensions import generated
from _harness import compare, promise, report

import pinakes
from pinakes.core.names import Name

FILES = 16
MERGE = (
    "MERGE INTO orders AS t USING changes AS s ON t.o_orderkey = s.o_orderkey "
    "WHEN MATCHED THEN UPDATE SET o_totalprice = s.o_totalprice, o_comment = 'changed' "
    "WHEN NOT MATCHED THEN INSERT *"
)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", type=Path)
    parser.add_argument("--scale", default="0.1")
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        data = arguments.data or generated("tpch", arguments.scale, Path(scratch) / "data")
        if data is None:
            print("no data: give --data, or install tpchgen-cli or duckdb-extension-tpch")
            return
        with pinakes.connect(data=f"{scratch}/lake") as connection:
            _measure(connection, data / "orders.parquet", arguments.rounds)


def _measure(connection: pinakes.Connection, orders: Path, rounds: int) -> None:
    run = connection.execute
    greatest = _number(connection, f"SELECT max(o_orderkey) FROM '{orders}'")
    width = greatest // FILES + 1
    run(f"CREATE TABLE orders PARTITIONED BY (truncate({width}, o_orderkey)) AS SELECT * FROM '{orders}'")
    run("CREATE TABLE written LIKE orders")
    together = f"o_orderkey > {greatest - greatest // 100}"
    for name, chosen in (("keys that lie together", together), ("keys of every file", "o_orderkey % 3200 < 32")):
        run(f"CREATE OR REPLACE TABLE changes AS SELECT * FROM '{orders}' WHERE {chosen}")
        removed = _merged(connection)
        read = f"SELECT * FROM orders WHERE o_orderkey >= {(FILES - removed) * width}"
        ours, peer = compare(partial(run, MERGE), partial(run, f"INSERT INTO written {read}"), rounds=rounds)
        rows = _number(connection, "SELECT count(*) FROM changes")
        report(f"MERGE of {rows} rows into {FILES} files, {removed} of them touched: {name}", ours, peer, "read, write")
        promise("MERGE, in times of reading and writing the files", ours.wall / peer.wall, 2)


def _number(connection: pinakes.Connection, query: str) -> int:
    row = connection.execute(query).fetchone()
    assert row is not None
    return int(row[0])


def _merged(connection: pinakes.Connection) -> int:
    """How many files a MERGE replaces."""
    connection.execute(MERGE)
    snapshot = connection.session.resolver.table(Name.of("orders"))[1].handle.current_snapshot()
    assert snapshot is not None
    assert snapshot.summary is not None
    return int(snapshot.summary.additional_properties["deleted-data-files"])


if __name__ == "__main__":
    main()
