"""Queries of tables with deletes that are stopped, or that find too little memory: what they held is free again."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pyarrow as pa
import pytest

from pinakes.core.catalog import IcebergTable
from pinakes.core.errors import OutOfMemory, QueryCanceled
from pinakes.core.names import Name
from pinakes.engine.engine import Engine
from pinakes.engine.iceberg.scan.tasks import plan
from pinakes.engine.session import Session
from tests.engine.delete_files import delete_equal, delete_positions
from tests.engine.support import an_engine, do, in_thread, rows, wait_until

WRITTEN = 500_000
LEFT = WRITTEN - 1000 - 10
LIMIT = 50_000_000
SORT = "SELECT a, h FROM t ORDER BY h"
TOO_LARGE = "SELECT count(*) FROM (SELECT a, h FROM t) AS x JOIN t AS y ON x.h = y.h AND x.a = y.a"

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def spill(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("spill")


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory, spill: Path) -> Iterator[Engine]:
    """In one part: with several, DataFusion 55 may wait for ever when memory is short (its issue 24883)."""
    lake = tmp_path_factory.mktemp("lake")
    with an_engine(lake, memory_limit=LIMIT, spill_dir=str(spill), target_partitions=1) as engine:
        yield engine


@pytest.fixture(scope="module")
def session(engine: Engine) -> Session:
    """A table of one file, of which rows are deleted by their places and by their values."""
    session = engine.session()
    do(session, "CREATE TABLE t (a BIGINT, h VARCHAR)")
    do(session, f"INSERT INTO t SELECT value, repeat(md5(CAST(value AS VARCHAR)), 4) FROM range({WRITTEN}) ORDER BY 1")
    (file,) = plan(table(session))
    delete_positions(table(session).handle, file, range(1000))
    table(session)
    gone = sorted(rows(session, "SELECT a FROM t"))[:10]
    field = pa.field("a", pa.int64(), metadata={"PARQUET:field_id": "1"})
    delete_equal(
        table(session).handle, file, pa.table([pa.array([a for (a,) in gone])], schema=pa.schema([field])), [1]
    )
    table(session)
    return session


def table(session: Session) -> IcebergTable:
    """As it is now; what is remembered of it goes."""
    return session.resolver.table(Name.of("t"))[1]


def size(directory: Path) -> int:
    total = 0
    for path in directory.rglob("*"):
        with suppress(FileNotFoundError):  # gone meanwhile
            total += path.stat().st_size if path.is_file() else 0
    return total


def check_all_is_free(session: Session, spill: Path) -> None:
    """Nothing is on the disk, and a query has the memory that it had before."""
    wait_until(lambda: size(spill) == 0, "the spilled files go")
    assert sum(batch.num_rows for batch in session.run(SORT)) == LEFT
    wait_until(lambda: size(spill) == 0, "the spilled files go")


def test_a_query_that_is_cancelled_while_it_spills(session: Session, spill: Path) -> None:
    for _ in range(3):
        reading = in_thread(lambda: session.run(SORT).read_all())
        wait_until(lambda: size(spill) > 0, "the query spills")
        session.cancel()
        with pytest.raises(QueryCanceled):
            reading()
    check_all_is_free(session, spill)


def test_a_result_that_is_not_read_to_its_end(session: Session, spill: Path) -> None:
    for _ in range(3):
        result = session.run(SORT)
        batches = iter(result)  # kept: a result whose iterator is gone is closed, and its files go at any moment
        next(batches)
        assert size(spill) > 0
        result.close()
    check_all_is_free(session, spill)


def test_a_result_whose_reader_is_forgotten(session: Session, spill: Path) -> None:
    for _ in range(3):
        next(iter(session.run(SORT)))
    check_all_is_free(session, spill)


def test_a_query_without_enough_memory(session: Session, spill: Path) -> None:
    for _ in range(3):
        with pytest.raises(OutOfMemory):
            rows(session, TOO_LARGE)
    check_all_is_free(session, spill)
