"""Iceberg tables of many files: a point query cold and warm, counts from metadata, deletes in one file of a hundred;
and what a query costs over one on bare DataFusion."""

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
from tests.engine.delete_files import delete_positions

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
        _counts(session)
        _deletes(session, Path(scratch))
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


def _counts(session: Session) -> None:
    """From metadata, against the same read from ten thousand files."""
    sql = "SELECT count(*), min(id), max(id) FROM t10000"
    told, read = (partial(_run, session, text) for text in (sql, f"{sql} WHERE id + 0 >= 0"))
    ours, peer = compare(told, read, rounds=5)
    report("count, min and max of 10,000 files", ours, peer, "with a condition that no metadata answers")
    promise("from metadata", ours.wall * 1000, 10, " ms")


def _deletes(session: Session, scratch: Path) -> None:
    """A table of a hundred files, one of which has deleted rows, against the same without."""
    for name in ("clean", "dirty"):
        _make(session, name, 100, scratch / name, rows=20_000)
    handle = session.resolver.table(Name.of("dirty"))[1].handle
    delete_positions(handle, next(iter(handle.scan(row_filter="day = 50").plan_files())), range(0, 20_000, 10))
    session.resolver.table(Name.of("dirty"))
    sql = "SELECT sum(id), max(v), count(*) FROM {} WHERE id % 3 = 0"
    dirty, clean = (partial(_run, session, sql.format(name)) for name in ("dirty", "clean"))
    ours, peer = compare(dirty, clean, rounds=9)
    report("a scan with deletes in 1 % of the files", ours, peer, "without")
    promise("wall", ours.wall / peer.wall, 1.3)
    promise("cpu", ours.cpu / peer.cpu, 1.3)


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


def _make(session: Session, name: str, number: int, directory: Path, rows: int = ROWS) -> None:
    """A table with one file per day; its files are made by hand, since ten thousand inserts take minutes."""
    directory.mkdir()
    _run(session, f"CREATE TABLE {name} (day INT, id BIGINT, v VARCHAR) PARTITIONED BY (day)")
    handle = session.resolver.table(Name.of(name))[1].handle
    transaction = handle.transaction()
    with transaction.update_snapshot().fast_append() as change:
        for day in range(number):
            change.append_data_file(_file(directory / f"{day}.parquet", day, handle.spec().spec_id, rows))
    transaction.commit_transaction()
    session.resolver.table(Name.of(name))  # what is remembered of it goes


def _file(path: Path, day: int, spec_id: int, rows: int) -> DataFile:
    ids = range(day * rows, (day + 1) * rows)
    columns = [
        pa.array([day] * rows, pa.int32()),
        pa.array(ids, pa.int64()),
        pa.array([f"x{i % 10}" for i in range(rows)]),
    ]
    pq.write_table(pa.Table.from_arrays(columns, schema=SCHEMA), path)
    every = dict.fromkeys((1, 2, 3), rows)
    file = DataFile.from_args(
        content=DataFileContent.DATA,
        file_path=str(path),
        file_format=FileFormat.PARQUET,
        partition=Record(day),
        record_count=rows,
        file_size_in_bytes=path.stat().st_size,
        column_sizes=every,
        value_counts=every,
        null_value_counts=dict.fromkeys((1, 2, 3), 0),
        nan_value_counts={},
        split_offsets=[4],
        lower_bounds={1: day.to_bytes(4, "little"), 2: ids[0].to_bytes(8, "little"), 3: b"x0"},
        upper_bounds={1: day.to_bytes(4, "little"), 2: ids[-1].to_bytes(8, "little"), 3: b"x9"},
    )
    file.spec_id = spec_id
    return file


if __name__ == "__main__":
    main()
