"""Promise: 1,000 single-row INSERTs take at most 1.5 times what pyiceberg takes to append the same rows, and to plan a
query of the table costs after them what it cost before, thanks to merged manifests.

Both on a SQLite catalog with local files: pyiceberg with its own. PINAKES_BENCH_COMMITS says another number of rows.
"""

from __future__ import annotations

import os
import tempfile
from statistics import median
from typing import Any

import pyarrow as pa
from _harness import Times, promise, report, timed
from pyiceberg.catalog.sql import SqlCatalog

from pinakes.api.build import open_engine
from pinakes.config.model import load_config
from pinakes.engine.session import Session

ROWS = int(os.environ.get("PINAKES_BENCH_COMMITS", "1000"))
STEP = 100
"""Both write this many in turns, so that whatever else the machine does hits both alike."""


def main() -> None:
    with tempfile.TemporaryDirectory() as directory, open_engine(load_config(data=f"{directory}/ours")) as engine:
        session = engine.session()
        done(session, "CREATE TABLE t (id BIGINT, v VARCHAR)")
        table = peer_table(directory)
        mine, theirs, planning = [], [], []
        for start in range(0, ROWS, STEP):
            mine.append(timed(lambda n=start: inserts(session, n), 1))  # type: ignore[misc]
            theirs.append(timed(lambda n=start: appends(table, n), 1))  # type: ignore[misc]
            planning.append(timed(lambda: done(session, "EXPLAIN SELECT * FROM t WHERE id = 7"), 20).cpu)
        assert session.run("SELECT count(*) FROM t").read_all().column(0)[0].as_py() == ROWS
        ours, peer = total(mine), total(theirs)
    report(f"{ROWS} single-row INSERTs", ours, peer, "pyiceberg: table.append of one row, its SQLite catalog")
    promise("wall, against pyiceberg", ours.wall / peer.wall, 1.5, " times")
    for name, parts in (("INSERT", mine), ("append", theirs)):
        first, last = parts[0].cpu / STEP * 1e3, parts[-1].cpu / STEP * 1e3
        print(f"  one {name}, CPU: of the first {STEP} {first:.1f} ms, of the last {last:.1f} ms")
    promise("planning at the end, against the median", planning[-1] / median(planning), 2.0, " times")


def inserts(session: Session, start: int) -> None:
    for number in range(start, start + STEP):
        done(session, f"INSERT INTO t VALUES ({number}, 'x')")


def appends(table: Any, start: int) -> None:
    for number in range(start, start + STEP):
        table.append(pa.table({"id": [number], "v": ["x"]}))


def peer_table(directory: str) -> Any:
    catalog = SqlCatalog("peer", uri=f"sqlite:///{directory}/peer.db", warehouse=f"file://{directory}/peer")
    catalog.create_namespace("default")
    return catalog.create_table("default.t", pa.schema([("id", pa.int64()), ("v", pa.string())]))


def total(parts: list[Times]) -> Times:
    return Times(sum(p.wall for p in parts), sum(p.cpu for p in parts))


def done(session: Session, sql: str) -> None:
    session.run(sql).read_all()


if __name__ == "__main__":
    main()
