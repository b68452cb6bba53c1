"""Iceberg tables of many files: a point query cold and warm; and what a query costs over one on bare DataFusion."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from _harness import compare, promise, report, timed
from datafusion import SessionContext
from pyiceberg.manifest import DataFile, DataFileContent, FileFormat
from pyiceberg.typedef import Record

import pinakes
from pinakes.core.names import Name
from pinakes.engine.session import Session

COLUMNS = {"day": pa.int32(), "id": pa.int64(), "v": pa.string()}
SCHEMA = pa.schema(
    [pa.field(name, kind, metadata={"PARQUET:field_id": str(i)}) for i, (name, kind) in enumerate(COLUMNS.items(), 1)]
)
ROWS = 10


def main() -> None:
    with tempfile.TemporaryDirectory() as scratch, pinakes.connect(data=f"{scratch}/lake") as connection:
        session = connection.session
        few, many = (_many(session, number, Path(scratch)) for number in (1000, 10_000))
        ours, peer = compare(many, few, rounds=15, calls=10)
        report("warm point query, 10,000 files against 1,000", ours, peer, "1,000 files")
        promise("warm", ours.wall * 1000, 5, " ms")
        promise("10,000 files against 1,000, cpu", ours.cpu / peer.cpu, 1.5)
        _overhead(session, Path(scratch))


def _many(session: Session, number: int, scratch: Path) -> Callable[[], object]:
    _make(session, f"t{number}", number, scratch / str(number))
    sql = f"SELECT id, v FROM t{number} WHERE day = 5"
    run = partial(_run, session, sql)
    run()
    cold = min((timed(partial(_cold, session, sql), 1) for _ in range(5)), key=lambda t: t.wall)
    print(f"cold point query, {number} files")
    promise("cold", cold.wall * 1000, 120, " ms")
    return run


def _cold(session: Session, sql: str) -> None:
    session.engine.caches.manifests.cache.clear()
    _run(session, sql)


def _overhead(session: Session, scratch: Path) -> None:
    """A query on a table of one file, against the same on the file itself."""
    _make(session, "small", 1, scratch / "small")
    bare = SessionContext()
    bare.register_parquet("small", str(scratch / "small"))
    sql = "SELECT v FROM small WHERE id = 3"
    ours, peer = compare(partial(_run, session, sql), lambda: bare.sql(sql).to_arrow_table(), rounds=20, calls=20)
    report("a query on one file", ours, peer, "bare DataFusion")
    promise("over bare DataFusion", (ours.wall - peer.wall) * 1000, 1, " ms")


def _run(session: Session, sql: str) -> pa.Table:
    return session.run(sql).read_all()


# --- tables ------------------------------------------------------------------------------------------------------


def _make(session: Session, name: str, number: int, directory: Path) -> None:
    """A table with one file per day; its files are made by hand, since ten thousand inserts take minutes."""
    directory.mkdir()
    _run(session, f"CREATE TABLE {name} (day INT, id BIGINT, v VARCHAR) PARTITIONED BY (day)")
    handle = session.resolver.table(Name.of(name))[1].handle
    transaction = handle.transaction()
    with transaction.update_snapshot().fast_append() as change:
        for day in range(number):
            change.append_data_file(_file(directory / f"{day}.parquet", day, handle.spec().spec_id))
    transaction.commit_transaction()
    session.resolver.table(Name.of(name))  # what is remembered of it goes


def _file(path: Path, day: int, spec_id: int) -> DataFile:
    ids = range(day * ROWS, (day + 1) * ROWS)
    columns = [pa.array([day] * ROWS, pa.int32()), pa.array(ids, pa.int64()), pa.array([f"x{i}" for i in range(ROWS)])]
    pq.write_table(pa.Table.from_arrays(columns, schema=SCHEMA), path)
    every = dict.fromkeys((1, 2, 3), ROWS)
    file = DataFile.from_args(
        content=DataFileContent.DATA,
        file_path=str(path),
        file_format=FileFormat.PARQUET,
        partition=Record(day),
        record_count=ROWS,
        file_size_in_bytes=path.stat().st_size,
        column_sizes=every,
        value_counts=every,
        null_value_counts=dict.fromkeys((1, 2, 3), 0),
        nan_value_counts={},
        lower_bounds={1: day.to_bytes(4, "little"), 2: ids[0].to_bytes(8, "little"), 3: b"x0"},
        upper_bounds={1: day.to_bytes(4, "little"), 2: ids[-1].to_bytes(8, "little"), 3: b"x9"},
    )
    file.spec_id = spec_id
    return file


if __name__ == "__main__":
    main()
