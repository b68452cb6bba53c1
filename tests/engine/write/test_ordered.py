"""ORDER BY at the end of a query that is written: rows stand in that order, and ranges of files do not overlap."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow.parquet as pq
import pytest

from pinakes.core.names import Name
from pinakes.engine.session import Session
from tests.engine.support import an_engine, do

_ROWS = 150_000
_QUERY = f"SELECT (i * 7919) % {_ROWS} AS id, repeat('x', 20) || i AS s FROM unnest(range(0, {_ROWS})) AS u(i)"
_SMALL = "WITH ('write.target-file-size-bytes' = '250000', 'write.parquet.row-group-size-bytes' = '125000')"


@pytest.fixture
def session() -> Iterator[Session]:
    with an_engine() as engine:
        yield engine.session()


def ids(session: Session) -> list[list[int]]:
    """The ids of each file of the table, as they stand there; the files in the order of the manifest."""
    handle = session.resolver.table(Name.of("t"))[1].handle
    files = [task.file.file_path.removeprefix("file://") for task in handle.scan().plan_files()]
    found = [pq.read_table(f, columns=["id"], partitioning=None)["id"].to_pylist() for f in files]
    return sorted(found, key=lambda one: one[0])


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO t {query} ORDER BY id",
        "INSERT INTO t (s, id) SELECT s, id FROM ({query}) AS z ORDER BY 2",
        "INSERT INTO t BY NAME SELECT s, id FROM ({query}) AS z ORDER BY id + 1 LIMIT 1000000",
        "INSERT OVERWRITE t {query} ORDER BY id",
        "CREATE OR REPLACE TABLE t {small} AS {query} ORDER BY id",
    ],
)
def test_files_are_in_order(session: Session, statement: str) -> None:
    do(session, f"CREATE TABLE t (id BIGINT, s VARCHAR) {_SMALL}")
    do(session, statement.format(query=_QUERY, small=_SMALL))
    found = ids(session)
    assert len(found) > 2
    assert [i for one in found for i in one] == list(range(_ROWS))


def test_descending_and_narrowed(session: Session) -> None:
    """A source whose scan is narrowed to some files is planned anew, and still in order."""
    do(session, "CREATE TABLE source (id BIGINT, part INT) PARTITIONED BY (part)")
    do(session, "INSERT INTO source SELECT i, i % 4 FROM unnest(range(0, 1000)) AS u(i)")
    do(session, "CREATE TABLE t (id BIGINT)")
    do(session, "INSERT INTO t SELECT id FROM source WHERE part = 3 ORDER BY part, id DESC")
    assert ids(session) == [[i for i in range(999, -1, -1) if i % 4 == 3]]


def test_names_that_are_there_twice(session: Session) -> None:
    do(session, "CREATE TABLE t (id BIGINT, id2 BIGINT)")
    do(session, "INSERT INTO t SELECT a.x, b.x FROM (SELECT 1 AS x) AS a, (SELECT 2 AS x) AS b ORDER BY a.x")
    assert session.run("SELECT * FROM t").read_all().to_pylist() == [{"id": 1, "id2": 2}]
