"""Tables with delete files of other engines: deleted rows are gone, whichever way a file is read, and stay gone."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
import pytest
from pyiceberg.table import FileScanTask

from pinakes.core.names import Name
from pinakes.engine.iceberg.scan.tasks import plan
from pinakes.engine.session import Session
from tests.engine.delete_files import delete_equal, delete_positions
from tests.engine.support import an_engine, do, in_order, rows


@pytest.fixture
def session() -> Iterator[Session]:
    with an_engine() as engine:
        yield engine.session()


def tasks(session: Session) -> list[FileScanTask]:
    return list(plan(session.resolver.table(Name.of("t"))[1]))


def delete_where(session: Session, values: pa.Table, *ids: int, file: int = 0) -> None:
    handle = session.resolver.table(Name.of("t"))[1].handle
    delete_equal(handle, tasks(session)[file], values, ids)
    session.resolver.table(Name.of("t"))  # what is remembered of it goes


def keys(name: str, field_id: int, values: list[object], kind: pa.DataType) -> pa.Table:
    field = pa.field(name, kind, metadata={"PARQUET:field_id": str(field_id)})
    return pa.table([pa.array(values, kind)], schema=pa.schema([field]))


def test_rows_that_equal_are_gone_and_later_ones_are_not(session: Session) -> None:
    do(session, "CREATE TABLE t (a INT, s VARCHAR)")
    do(session, "INSERT INTO t VALUES (1, 'a'), (2, 'b'), (NULL, 'c')")
    delete_where(session, keys("a", 1, [1, None], pa.int32()), 1)
    assert rows(session, "SELECT s FROM t") == [("b",)]
    do(session, "INSERT INTO t VALUES (1, 'again')")
    assert in_order(rows(session, "SELECT a, s FROM t")) == [(1, "again"), (2, "b")]
    assert rows(session, "SELECT count(*) FROM t WHERE a = 1") == [(1,)]
    assert "DataSourceExec" in str(rows(session, "EXPLAIN SELECT * FROM t WHERE s = 'again'"))


def test_only_rows_of_the_same_partition_are_gone(session: Session) -> None:
    do(session, "CREATE TABLE t (p INT, a INT) PARTITIONED BY (p)")
    do(session, "INSERT INTO t VALUES (1, 7), (2, 7), (2, 8)")
    number = next(i for i, task in enumerate(tasks(session)) if task.file.partition[0] == 2)
    delete_where(session, keys("a", 2, [7], pa.int32()), 2, file=number)
    assert in_order(rows(session, "SELECT p, a FROM t")) == [(1, 7), (2, 8)]


def test_a_column_that_decides_may_be_renamed_or_dropped(session: Session) -> None:
    do(session, "CREATE TABLE t (a INT, s VARCHAR, x DOUBLE)")
    do(session, "INSERT INTO t VALUES (1, 'a', 1), (2, 'b', 'NaN'), (3, 'c', NULL)")
    delete_where(session, keys("a", 1, [1], pa.int32()), 1)
    delete_where(session, keys("x", 3, [float("nan")], pa.float64()), 3)
    do(session, "ALTER TABLE t RENAME COLUMN a TO b")
    assert rows(session, "SELECT b FROM t") == [(3,)]
    do(session, "ALTER TABLE t DROP COLUMN b")
    do(session, "ALTER TABLE t ADD COLUMN a INT")
    assert rows(session, "SELECT s, a FROM t") == [("c", None)]


def test_two_columns_decide_together(session: Session) -> None:
    do(session, "CREATE TABLE t (a INT, s VARCHAR)")
    do(session, "INSERT INTO t VALUES (1, 'a'), (1, 'b'), (2, 'a')")
    both = [
        pa.field(n, k, metadata={"PARQUET:field_id": i})
        for n, k, i in (("s", pa.string(), "2"), ("a", pa.int32(), "1"))
    ]
    delete_where(session, pa.table([pa.array(["a"]), pa.array([1], pa.int32())], schema=pa.schema(both)), 2, 1)
    assert in_order(rows(session, "SELECT a, s FROM t")) == [(1, "b"), (2, "a")]


def test_changes_leave_deleted_rows_deleted(session: Session) -> None:
    do(session, "CREATE TABLE t (a INT, s VARCHAR)")
    do(session, "INSERT INTO t VALUES (1, 'a'), (2, 'b'), (3, 'c'), (4, 'd')")
    delete_where(session, keys("a", 1, [1], pa.int32()), 1)
    delete_positions(session.resolver.table(Name.of("t"))[1].handle, tasks(session)[0], [1])
    session.resolver.table(Name.of("t"))
    assert in_order(rows(session, "SELECT a FROM t")) == [(3,), (4,)]
    assert do(session, "UPDATE t SET s = s || '!'") == 2
    assert do(session, "DELETE FROM t WHERE a = 4") == 1
    assert rows(session, "SELECT * FROM t") == [(3, "c!")]


def test_clean_files_beside_one_with_deletes_stay_native(session: Session) -> None:
    do(session, "CREATE TABLE t (a INT) PARTITIONED BY (a)")
    do(session, "INSERT INTO t SELECT x FROM unnest(range(0, 10)) AS u(x)")
    handle = session.resolver.table(Name.of("t"))[1].handle
    doomed = next(task for task in tasks(session) if task.file.partition[0] == 3)
    delete_positions(handle, doomed, [0])
    session.resolver.table(Name.of("t"))
    assert rows(session, "SELECT count(*), sum(a) FROM t") == [(9, 42)]
    shown = str(rows(session, "EXPLAIN SELECT * FROM t"))
    assert "DataSourceExec" in shown
    assert "DatasetExec: number_of_fragments=1," in shown
    assert "DatasetExec" not in str(rows(session, "EXPLAIN SELECT * FROM t WHERE a > 5"))
