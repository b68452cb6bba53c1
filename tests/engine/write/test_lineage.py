"""What is written of the lineage of rows in format version 3; how Spark reads it: tests/interop/test_lineage.py."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow.parquet as pq
import pytest

from pinakes.core.names import Name
from pinakes.engine.session import Session
from tests.engine.support import an_engine, do, in_order, rows


@pytest.fixture
def session() -> Iterator[Session]:
    with an_engine() as engine:
        yield engine.session()


def written(session: Session) -> list[tuple[int | None, ...]]:
    """Of all files: the user's id of each row, its row id and last change, None for what the file does not tell."""
    handle = session.resolver.table(Name.of("t"))[1].handle
    found: list[tuple[int | None, ...]] = []
    for task in handle.scan().plan_files():
        file = pq.read_table(task.file.file_path.removeprefix("file://"), partitioning=None)
        names = ("id", "_row_id", "_last_updated_sequence_number")
        found += [tuple(row.get(name) for name in names) for row in file.to_pylist()]
    return in_order(found)


def made(session: Session, version: int, more: str = "") -> None:
    do(session, f"CREATE TABLE t (id INT, v INT) {more} WITH (format_version = {version})")
    do(session, "INSERT INTO t VALUES (1, 1), (2, 2), (3, 3)")
    do(session, "INSERT INTO t VALUES (4, 4)")


@pytest.mark.parametrize("more", ["", "SORTED BY (v DESC)"])
def test_what_is_moved_and_what_is_changed(session: Session, more: str) -> None:
    made(session, 3, more)
    first = {id: row_id for row_id, id in enumerate((3, 2, 1) if more else (1, 2, 3))}
    assert written(session) == [(id, None, None) for id in (1, 2, 3, 4)]
    do(session, "DELETE FROM t WHERE id = 2")
    assert written(session) == [(1, first[1], 1), (3, first[3], 1), (4, None, None)]
    do(session, "UPDATE t SET v = 0 WHERE id = 3")
    assert written(session) == [(1, first[1], 1), (3, first[3], None), (4, None, None)]
    do(session, "UPDATE t SET v = 9 WHERE id = 1")
    assert written(session) == [(1, first[1], None), (3, first[3], 4), (4, None, None)]
    assert rows(session, "SELECT * FROM t ORDER BY id") == [(1, 9), (3, 0), (4, 4)]


def test_rows_of_a_partition_that_is_replaced(session: Session) -> None:
    """Old rows that have to move keep what they had; new ones get theirs with the commit."""
    made(session, 3)
    do(session, "ALTER TABLE t ADD PARTITION FIELD v")
    do(session, "INSERT OVERWRITE t PARTITION (v = 2) SELECT 20")
    assert written(session) == [(1, 0, 1), (3, 2, 1), (4, None, None), (20, None, None)]


def test_older_versions_have_none(session: Session) -> None:
    made(session, 2)
    do(session, "DELETE FROM t WHERE id = 2")
    assert written(session) == [(id, None, None) for id in (1, 3, 4)]
    do(session, "ALTER TABLE t SET PROPERTIES format_version = 3")
    do(session, "DELETE FROM t WHERE id = 3")
    do(session, "DELETE FROM t WHERE id = 9")
    assert [row[0] for row in written(session)] == [1, 4]


def test_a_column_of_that_name(session: Session) -> None:
    """A file can't have both: the user's column wins, and rows that are written anew get new ids."""
    do(session, "CREATE TABLE t (id INT, _row_id INT) WITH (format_version = 3)")
    do(session, "INSERT INTO t VALUES (1, 7), (2, 8)")
    do(session, "DELETE FROM t WHERE id = 1")
    assert rows(session, "SELECT * FROM t") == [(2, 8)]
