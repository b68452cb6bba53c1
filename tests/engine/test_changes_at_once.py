"""Changes while others read, or do the same: readers see one state or the other, and nothing happens twice."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from pinakes.core.names import Name
from pinakes.engine.engine import Engine
from tests.engine.support import an_engine, do, rows

STATES = 12


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    with an_engine(tmp_path) as engine:
        yield engine


def watched(engine: Engine, query: str, change: Callable[[], None]) -> set[tuple[object, ...]]:
    """All answers that readers got while a change was carried out several times."""
    done, seen = threading.Event(), set[tuple[object, ...]]()

    def read() -> None:
        session = engine.session()
        while not done.is_set():
            seen.update(rows(session, query))

    with ThreadPoolExecutor(2) as threads:
        readers = [threads.submit(read) for _ in range(2)]
        try:
            change()
        finally:
            done.set()
        for reader in readers:
            reader.result()
    return seen


def test_readers_of_a_table_that_is_replaced(engine: Engine) -> None:
    """Each answer is of one state: all its rows, under its own columns. And every state can be read afterwards."""
    session = engine.session()
    replace = (
        "CREATE OR REPLACE TABLE t PARTITIONED BY (p) AS SELECT {0} AS v, x % 3 AS p FROM unnest(range(0, 300)) AS u(x)"
    )
    do(session, replace.format(0))

    def change() -> None:
        for number in range(1, STATES):
            do(session, replace.format(number))

    seen = watched(engine, "SELECT count(*), min(v), max(v) FROM t", change)
    assert all(count == 300 and least == greatest for count, least, greatest in seen), seen
    snapshots = session.resolver.table(Name.of("t"))[1].handle.metadata.snapshots
    assert len(snapshots) == STATES
    then = [rows(session, f"SELECT DISTINCT v FROM t FOR VERSION AS OF {s.snapshot_id}") for s in snapshots]
    assert sorted(found[0][0] for found in then) == list(range(STATES))


@pytest.mark.parametrize("version", [2, 3])
def test_readers_of_a_table_whose_rows_are_marked(engine: Engine, version: int) -> None:
    """Every UPDATE moves all rows on by one: no answer has rows of two states, or a row twice."""
    session = engine.session()
    do(session, f"CREATE TABLE t (id INT, v INT) PARTITIONED BY (bucket(3, id)) "
                f"WITH ('format-version' = '{version}', 'write.update.mode' = 'merge-on-read')")  # fmt: skip
    do(session, "INSERT INTO t SELECT x, 0 FROM unnest(range(0, 200)) AS u(x)")

    def change() -> None:
        for _ in range(STATES):
            do(session, "UPDATE t SET v = v + 1 WHERE id + v >= 0")

    seen = watched(engine, "SELECT count(*), count(DISTINCT id), min(v), max(v) FROM t", change)
    assert all((count, ids) == (200, 200) and least == greatest for count, ids, least, greatest in seen), seen
    assert rows(session, "SELECT DISTINCT v FROM t") == [(STATES,)]


def test_a_file_is_loaded_once_by_many(engine: Engine, tmp_path: Path) -> None:
    for number in range(4):
        (tmp_path / f"in{number}.csv").write_text(f"id\n{number}\n")
    do(engine.session(), "CREATE TABLE t (id INT)")

    def load(_: int) -> int:
        return do(engine.session(), f"COPY INTO t FROM '{tmp_path}/in*.csv' (HEADER true)") or 0

    with ThreadPoolExecutor(4) as threads:
        loaded = list(threads.map(load, range(4)))
    assert sorted(loaded) == [0, 0, 0, 4]
    assert sorted(rows(engine.session(), "SELECT id FROM t")) == [(0,), (1,), (2,), (3,)]


def test_overwrites_and_marks_at_once_lose_nothing(engine: Engine) -> None:
    """Each session has rows of its own, in files that all share."""
    do(engine.session(), "CREATE TABLE t (who INT, v INT) WITH ('format-version' = '3', "
                         "'write.update.mode' = 'merge-on-read', 'write.delete.mode' = 'merge-on-read')")  # fmt: skip
    do(engine.session(), "INSERT INTO t SELECT x % 4, 0 FROM unnest(range(0, 400)) AS u(x)")

    def change(who: int) -> None:
        session = engine.session()
        for _ in range(3):
            assert do(session, f"UPDATE t SET v = v + 1 WHERE who = {who}") == 100

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(change, range(4)))
    assert rows(engine.session(), "SELECT count(*), min(v), max(v) FROM t") == [(400, 3, 3)]
