"""system.iceberg and "t$files": the same as pyiceberg finds, also with deletes, in every version of the format; no
table is loaded that is not asked for; what is damaged is told."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pyarrow as pa
import pytest

from pinakes.core.errors import DataCorrupt
from pinakes.core.names import Name
from pinakes.engine.iceberg.scan.tasks import plan
from pinakes.engine.session import Session
from tests.engine.delete_files import delete_equal, delete_positions
from tests.engine.support import an_engine, do, in_order, rows
from tests.system_tables.counting import CountingCatalog, engine_with

TYPES = (
    "id bigint, name varchar, d date, ts timestamp, tz timestamptz, x double, b boolean, n integer, u uuid, "
    "dec decimal(12,3)"
)
ROWS = (
    "(1, 'one', DATE '2024-01-01', TIMESTAMP '2024-01-01 10:00:00.5', TIMESTAMPTZ '2024-01-01 10:00:00+00', 1.5, true, "
    "7, 'f47ac10b-58cc-4372-a567-0e02b2c3d479', 1.25), (2, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL), "
    "(3, 'three', DATE '1969-12-31', TIMESTAMP '1969-12-31 23:00:00', TIMESTAMPTZ '1969-12-31 23:00:00+00', 'NaN', "
    "false, -1, '00000000-0000-0000-0000-000000000001', -3.5)"
)
PARTITIONINGS = [
    "",
    "PARTITIONED BY (d, u, dec)",
    "PARTITIONED BY (bucket(8, id), truncate(2, name))",
    "PARTITIONED BY (year(ts), n)",
    "PARTITIONED BY (month(d), b)",
    "PARTITIONED BY (day(ts), hour(tz))",
    "PARTITIONED BY (ts, tz)",
]


@pytest.fixture
def session() -> Iterator[Session]:
    with an_engine() as engine:
        yield engine.session()


def handle(session: Session, name: str = "t") -> Any:
    return session.resolver.table(Name.of(name))[1].handle


def make(session: Session, partitioning: str, version: int = 2) -> None:
    do(session, f"CREATE TABLE t ({TYPES}) {partitioning} TBLPROPERTIES ('format-version' = '{version}')")
    do(session, f"INSERT INTO t VALUES {ROWS}")
    do(session, f"INSERT INTO t VALUES {ROWS}")


def theirs(session: Session) -> dict[str, Any]:
    """The entries of the current snapshot as pyiceberg reads them, by the path of their file."""
    table = handle(session)
    manifests = table.current_snapshot().manifests(table.io)
    return {e.data_file.file_path: e for m in manifests for e in m.fetch_manifest_entry(table.io)}


COUNTS = ("column_sizes", "value_counts", "null_value_counts", "nan_value_counts", "split_offsets")


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("partitioning", PARTITIONINGS)
def test_files_are_those_that_pyiceberg_finds(session: Session, partitioning: str, version: int) -> None:
    make(session, partitioning, version)
    known = theirs(session)
    ours = {row["file_path"]: row for row in session.run('SELECT * FROM "t$files"').read_all().to_pylist()}
    assert ours.keys() == known.keys()
    for path, row in ours.items():
        file = known[path].data_file
        assert (row["content"], row["file_format"], row["spec_id"]) == (0, file.file_format.value, 0)
        assert (row["record_count"], row["file_size_in_bytes"]) == (file.record_count, file.file_size_in_bytes)
        assert [plain(row[name]) for name in COUNTS] == [plain(getattr(file, name)) for name in COUNTS]
        assert dict(row["lower_bounds"]).keys() == file.lower_bounds.keys()
        partition = list((row.get("partition") or {}).values())
        assert [plain(v) for v in partition] == [plain(file.partition[i]) for i in range(len(partition))]
        assert len(partition) == len(file.partition)


def plain(value: Any) -> Any:
    """A value as it stands in a manifest: numbers for times, texts for UUIDs."""
    match value:
        case datetime():
            return (value.replace(tzinfo=None) - datetime(1970, 1, 1)) // timedelta(microseconds=1)
        case date():
            return (value - date(1970, 1, 1)).days
        case UUID():
            return str(value)
        case Mapping():
            return sorted(value.items())
        case _:
            return value


@pytest.mark.parametrize("partitioning", PARTITIONINGS)
def test_partitions_are_the_sums_of_their_files(session: Session, partitioning: str) -> None:
    make(session, partitioning)
    files: dict[str, list[int]] = {}
    for entry in theirs(session).values():
        file = entry.data_file
        files.setdefault(str([plain(v) for v in file.partition._data]), []).append(file.record_count)
    told = session.run('SELECT * FROM "t$partitions"').read_all().to_pylist()
    ours = [([plain(v) for v in (r.get("partition") or {}).values()], r["record_count"], r["file_count"]) for r in told]
    assert {str(key): (rows, count) for key, rows, count in ours} == {k: (sum(v), len(v)) for k, v in files.items()}
    assert len(ours) == len(files)


def test_files_of_nan_are_one_partition(session: Session) -> None:
    do(session, "CREATE TABLE t (x double) PARTITIONED BY (x)")
    for _ in range(2):
        do(session, "INSERT INTO t VALUES ('NaN'), (1)")
    found = rows(session, 'SELECT partition.x = 1, record_count, file_count FROM "t$partitions"')
    assert in_order(found) == [(False, 2, 2), (True, 2, 2)]


@pytest.mark.parametrize("table", ["snapshots", "history", "refs", "metadata_log_entries"])
def test_what_the_table_itself_holds_is_as_pyiceberg_shows_it(session: Session, table: str) -> None:
    make(session, "")
    do(session, "DELETE FROM t WHERE id = 1")
    theirs = getattr(handle(session).inspect, table)()
    ours = session.run(f'SELECT * FROM "t${table}"').read_all()
    times = [name for name in theirs.column_names if pa.types.is_timestamp(theirs.schema.field(name).type)]
    for name in set(ours.column_names) & set(theirs.column_names):
        here, there = ours.column(name), theirs.column(name)
        if name in times:
            here, there = here.cast(pa.timestamp("ms")), there.cast(pa.timestamp("ms"))
        if name != "summary":
            assert here.to_pylist() == there.to_pylist(), name
    assert ours.num_rows == theirs.num_rows


def test_entries_have_what_they_inherit(session: Session) -> None:
    make(session, "PARTITIONED BY (b)")
    do(session, "DELETE FROM t WHERE id = 1")
    wanted = [(path, e.status.value, e.snapshot_id, e.sequence_number) for path, e in theirs(session).items()]
    query = 'SELECT file_path, status, snapshot_id, sequence_number FROM "t$entries" WHERE status <> 2'
    assert in_order(rows(session, query)) == in_order(wanted)
    assert rows(session, 'SELECT count(*) FROM "t$entries" WHERE status = 2') == [(2,)]


def test_files_of_version_3_have_the_ids_of_their_rows(session: Session) -> None:
    make(session, "PARTITIONED BY (day(ts))", 3)
    ids = [number for (number,) in rows(session, 'SELECT first_row_id FROM "t$files" WHERE record_count = 1')]
    assert sorted(ids) == list(range(6))


def test_deletes_are_files_too(session: Session) -> None:
    do(session, "CREATE TABLE t (p INT, a INT) PARTITIONED BY (p)")
    do(session, "INSERT INTO t VALUES (1, 7), (1, 8), (2, 7)")
    table = session.resolver.table(Name.of("t"))[1]
    first = next(task for task in plan(table) if task.file.partition[0] == 1)
    delete_positions(table.handle, first, [0])
    key = pa.schema([pa.field("a", pa.int32(), metadata={"PARQUET:field_id": "2"})])
    table = session.resolver.table(Name.of("t"))[1]
    delete_equal(table.handle, first, pa.table([pa.array([8], pa.int32())], schema=key), [2])
    session.resolver.table(Name.of("t"))
    files = rows(session, 'SELECT content, partition.p, record_count, equality_ids FROM "t$files"')
    assert in_order(files) == in_order([(0, 1, 2, None), (0, 2, 1, None), (1, 1, 1, None), (2, 1, 1, [2])])
    counts = "partition.p, record_count, position_delete_record_count, equality_delete_file_count"
    assert in_order(rows(session, f'SELECT {counts} FROM "t$partitions"')) == [(1, 2, 1, 1), (2, 1, 0, 0)]
    manifests = rows(session, 'SELECT content, added_data_files_count, added_delete_files_count FROM "t$manifests"')
    assert in_order(manifests) == [(0, 2, 0), (1, 0, 1), (1, 0, 1)]
    assert rows(session, "SHOW STATS FOR t")[-1] == (None, None, None, None, 2.0, None, None)


def test_only_the_table_that_is_requested_is_loaded() -> None:
    catalog, other = CountingCatalog({("s",): (["a", "b"], ["v"]), ("z",): (["c"], [])}), CountingCatalog({})
    with engine_with(cat=catalog, other=other) as engine:
        session = engine.session()
        where = "catalog_name = 'cat' AND schema_name = 's' AND table_name = 'b'"
        for table in ("snapshots", "files", "partitions", "properties", "all_entries"):
            rows(session, f"SELECT * FROM system.iceberg.{table} WHERE {where}")
        assert catalog.calls == [("list_tables", ("s",), ""), ("load_table", ("s",), "b")]
        assert other.calls == []


def test_a_lost_manifest_leaves_the_rest_and_is_reported(session: Session) -> None:
    make(session, "")
    do(session, "CREATE TABLE good AS SELECT 1 AS a")
    (lost,) = [m.manifest_path for m in handle(session).current_snapshot().manifests(handle(session).io)][:1]
    Path(lost.removeprefix("file://")).unlink()
    session.engine.caches.clear()
    assert rows(session, "SELECT DISTINCT table_name FROM system.iceberg.files") == [("good",)]
    assert "not all metadata could be read" in session.warnings[-1]
    told = rows(session, "SELECT table_name, operation, code FROM system.metadata.errors")
    assert told == [("t", "read the manifests", "DATA_CORRUPT")]
    with pytest.raises(DataCorrupt, match=r"table default\.t: its manifests cannot be read"):
        rows(session, 'SELECT * FROM "t$files"')
    assert len(rows(session, 'SELECT * FROM "t$manifests"')) == 2
