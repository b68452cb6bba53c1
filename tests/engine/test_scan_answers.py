"""count, min and max from metadata: the same as from the rows, wherever they are answered so."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from pinakes.core.catalog import IcebergTable
from pinakes.core.names import Name
from pinakes.engine.engine import Engine
from pinakes.engine.iceberg.scan import metadata_aggregates as answers
from pinakes.engine.planning import prepare
from pinakes.engine.session import Session
from tests.engine.delete_files import delete_positions
from tests.engine.support import an_engine, do, rows

COLUMNS = (
    "p INT, i INT, l BIGINT, e DECIMAL(12, 3), d DATE, ts TIMESTAMP, tz TIMESTAMPTZ, b BOOLEAN, s VARCHAR, f DOUBLE, "
    "n INT, x STRUCT(y INT)"
)
EXACT = ("p", "i", "l", "e", "d", "ts", "tz", "n")


@pytest.fixture
def engine() -> Iterator[Engine]:
    with an_engine() as engine:
        yield engine


@pytest.fixture
def session(engine: Engine) -> Session:
    """A table of eight files; in one of them `i` is NULL throughout, and `n` is in all."""
    session = engine.session()
    do(session, f"CREATE TABLE t ({COLUMNS}) PARTITIONED BY (p)")
    do(
        session,
        "INSERT INTO t SELECT v % 8, CASE WHEN v % 8 = 3 OR v % 3 = 0 THEN NULL ELSE v * 7 - 100 END, v * 10000000000, "
        "CAST(v - 5 AS DECIMAL(12, 3)) / 8, DATE '1969-12-20' + CAST(v AS INT), "
        "to_timestamp_micros(v * 1000001 - 20000000), "
        "to_timestamp_micros(v * 3600000000 + 1711845000000000), v > 3, 's' || v, v / 3.0, NULL, NULL "
        "FROM unnest(range(0, 40)) AS u(v)",
    )
    return session


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Whether each statement was answered from metadata."""
    found: list[bool] = []
    answered = answers.answered

    def seen(*given):
        frame = answered(*given)
        found.append(frame is not None)
        return frame

    monkeypatch.setattr(answers, "answered", seen)
    return found


def scanned(session: Session, sql: str, monkeypatch: pytest.MonkeyPatch) -> list[tuple[object, ...]]:
    with monkeypatch.context() as patched:
        patched.setattr(prepare, "answer_from_metadata", lambda *_: None)
        return rows(session, sql)


def table(session: Session) -> IcebergTable:
    return session.resolver.table(Name.of("t"))[1]


@pytest.mark.parametrize("zone", ["UTC", "Europe/Berlin"])
def test_answers_are_those_of_the_rows(
    session: Session, told: list[bool], monkeypatch: pytest.MonkeyPatch, zone: str
) -> None:
    do(session, f"SET time_zone = '{zone}'")
    told.clear()
    queries = [f"SELECT min({c}), max({c}), count({c}), count(*) FROM t" for c in EXACT]
    queries += ["SELECT count(b), count(s) AS n FROM t", "SELECT max(i) - min(i) + count(*) AS x FROM t LIMIT 5"]
    queries += ["SELECT count(*) FROM t AS u", "SELECT to_char(max(ts), '%Y'), max(tz) FROM t"]
    for sql in queries:
        found = session.run(sql).read_all()
        assert told.pop(), sql
        with monkeypatch.context() as patched:
            patched.setattr(prepare, "answer_from_metadata", lambda *_: None)
            expected = session.run(sql).read_all()
        assert found.schema.equals(expected.schema), sql
        assert found.equals(expected), sql


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT min(s) FROM t",
        "SELECT max(f) FROM t",
        "SELECT count(f) FROM t",
        "SELECT count(x) FROM t",
        "SELECT min(b) FROM t",
        "SELECT count(*), sum(i) FROM t",
        "SELECT count(DISTINCT i) FROM t",
        "SELECT count(*) FILTER (WHERE i > 0) FROM t",
        "SELECT count(i) FILTER (WHERE b) FROM t",
        "SELECT count(*) FROM t WHERE p = 3",
        "SELECT max(i) FROM t WHERE i < 50",
        "SELECT p, count(*) FROM t GROUP BY p ORDER BY p",
        "SELECT count(*) FROM (SELECT * FROM t LIMIT 3) AS u",
        "SELECT count(*) FROM t LIMIT 0",
        "SELECT count(*) FROM t OFFSET 1",
        "SELECT count(*) FROM t HAVING count(*) > 1000",
        "SELECT count(*), (SELECT max(l) FROM t) FROM t",
        "SELECT count(*) FROM t AS a JOIN t AS b ON a.l = b.l",
        "SELECT max(i + 1) FROM t",
        "SELECT count(*) FROM (SELECT p FROM t UNION ALL SELECT p FROM t) AS u",
    ],
)
def test_what_metadata_does_not_tell_is_read(
    session: Session, told: list[bool], monkeypatch: pytest.MonkeyPatch, sql: str
) -> None:
    found = rows(session, sql)
    assert not any(told)
    assert found == scanned(session, sql, monkeypatch)


def test_a_view_of_it(session: Session, told: list[bool]) -> None:
    do(session, "CREATE VIEW w AS SELECT * FROM t")
    told.clear()
    assert rows(session, "SELECT count(*), max(l) FROM w") == [(40, 390000000000)]
    assert told == [True]


def test_no_data_file_is_touched(session: Session) -> None:
    from pathlib import Path

    for task in table(session).handle.scan().plan_files():
        Path(task.file.file_path.removeprefix("file://")).unlink()
    assert rows(session, "SELECT count(*), max(p) FROM t") == [(40, 7)]


def test_deleted_rows_are_not_counted(session: Session, told: list[bool]) -> None:
    handle = table(session).handle
    delete_positions(handle, next(iter(handle.scan().plan_files())), [0, 1])
    session.engine.caches.clear()
    assert rows(session, "SELECT count(*) FROM t") == [(38,)]
    assert told == [False]
    do(session, "DELETE FROM t WHERE p > 1")
    do(session, "INSERT INTO t (p) VALUES (11), (12), (13)")
    assert rows(session, "SELECT count(*), max(p) FROM t") == [(11, 13)]


def test_evolution_and_time_travel(session: Session, told: list[bool], monkeypatch: pytest.MonkeyPatch) -> None:
    then = table(session).handle.metadata.current_snapshot_id
    do(session, "ALTER TABLE t ALTER COLUMN i TYPE BIGINT")
    do(session, "ALTER TABLE t ALTER COLUMN e TYPE DECIMAL(20, 3)")
    do(session, "ALTER TABLE t RENAME COLUMN l TO k")
    do(session, "ALTER TABLE t ADD COLUMN added INT")
    do(session, "INSERT INTO t (p, i, e, added) VALUES (99, 5000000000, 99999999999.5, 1)")
    for sql, is_told in (
        ("SELECT min(i), max(i), count(i) FROM t", True),
        ("SELECT min(e), max(e), max(k) FROM t", True),
        ("SELECT count(added), max(added) FROM t", False),
        (f"SELECT count(*), max(l), max(i) FROM t FOR VERSION AS OF {then}", True),
    ):
        told.clear()
        found = rows(session, sql)
        assert told == [is_told], sql
        assert found == scanned(session, sql, monkeypatch), sql


def test_a_column_that_was_dropped_and_made_again(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    do(session, "ALTER TABLE t DROP COLUMN l")
    do(session, "ALTER TABLE t ADD COLUMN l BIGINT")
    for sql in ("SELECT max(l), count(l) FROM t", "SELECT count(*) FROM t"):
        assert rows(session, sql) == scanned(session, sql, monkeypatch)
    assert rows(session, "SELECT max(l), count(l) FROM t") == [(None, 0)]


def test_a_table_without_rows(session: Session) -> None:
    do(session, "TRUNCATE TABLE t")
    assert rows(session, "SELECT count(*), min(i), max(l), count(i) FROM t") == [(0, None, None, 0)]
