"""Transactions: what stays of one that ends otherwise than by COMMIT, and what the files of one are."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyiceberg.exceptions import CommitStateUnknownException

import pinakes
from pinakes.core.errors import (
    CatalogUnavailable,
    CommitUnknown,
    ExecutionError,
    PinakesError,
    TableExists,
    TableNotFound,
    TransactionAborted,
)
from pinakes.core.names import Name
from pinakes.engine.session import Session
from pinakes.providers.sql_catalog.catalog import SqlCatalog
from tests.engine.support import an_engine, do, in_thread, rows


def files(directory: Path) -> set[Path]:
    return {path for path in (directory / "warehouse").rglob("*") if path.is_file()}


def begun(session: Session) -> None:
    """A transaction that has written to two tables, and has made one."""
    do(session, "BEGIN")
    do(session, "INSERT INTO t VALUES (2)")
    do(session, "UPDATE t SET id = id + 10")
    do(session, "CREATE TABLE u AS SELECT * FROM t")
    do(session, "DELETE FROM u WHERE id = 11")


@pytest.mark.parametrize("end", ["ROLLBACK", "close", "abort"])
def test_nothing_is_left_of_one_that_is_not_committed(tmp_path: Path, end: str) -> None:
    with an_engine(tmp_path) as engine:
        session, other = engine.session(), engine.session()
        do(session, "CREATE TABLE t AS SELECT CAST(1 AS BIGINT) AS id")
        before = files(tmp_path)
        begun(session)
        assert len(files(tmp_path)) > len(before)
        if end == "close":
            session.close()
        else:
            if end == "abort":
                with pytest.raises(PinakesError):
                    do(session, "SELECT nope")
            do(session, "COMMIT" if end == "abort" else "ROLLBACK")
        assert files(tmp_path) == before
        assert rows(other, "SELECT id FROM t") == [(1,)]
        assert rows(other, "SHOW TABLES") == [("t",)]


def test_a_commit_leaves_no_file_too_many(tmp_path: Path) -> None:
    """All that a transaction wrote is part of the tables, or of their history."""
    with an_engine(tmp_path) as engine:
        session = engine.session()
        do(session, "CREATE TABLE t AS SELECT CAST(1 AS BIGINT) AS id")
        begun(session)
        do(session, "COMMIT")
        for table in ("t", "u"):
            call = (
                f"CALL system.remove_orphan_files('{table}', older_than => now() + INTERVAL '1' DAY, dry_run => true)"
            )
            assert rows(session, call) == []
        assert sorted(rows(session, "SELECT id FROM t")) == [(11,), (12,)]
        assert rows(session, "SELECT id FROM u") == [(12,)]


def test_the_other_sessions_go_on(tmp_path: Path) -> None:
    """Of one engine and of another: nobody waits for a transaction that is open."""
    with an_engine(tmp_path) as engine, an_engine(tmp_path) as second:
        session = engine.session()
        do(session, "CREATE TABLE t AS SELECT CAST(1 AS BIGINT) AS id")
        do(session, "CREATE TABLE s AS SELECT 1 AS id")
        begun(session)
        for other in (engine.session(), second.session()):
            assert in_thread(lambda s=other: rows(s, "SELECT id FROM t"))() == [(1,)]
            in_thread(lambda s=other: do(s, "INSERT INTO s VALUES (2)"))()
        do(session, "COMMIT")
        assert len(rows(session, "SELECT * FROM s")) == 3


@pytest.mark.parametrize("end", ["COMMIT", "ROLLBACK"])
def test_a_statement_that_comes_too_late_is_told_so(tmp_path: Path, end: str) -> None:
    """Another thread ends the transaction while it runs: were it told that it is done, its rows would be lost."""
    begun, ended = threading.Event(), threading.Event()

    def slowly() -> Iterator[pa.RecordBatch]:
        begun.set()
        ended.wait(60)
        yield pa.record_batch({"id": pa.array([7], pa.int32())})

    with pinakes.connect(data=tmp_path) as connection:
        session = connection.session
        do(session, "CREATE TABLE t (id INT)")
        connection.register("slow", pa.RecordBatchReader.from_batches(pa.schema({"id": pa.int32()}), slowly()))
        do(session, "BEGIN")
        late = in_thread(lambda: do(session, "INSERT INTO t SELECT id FROM slow"))
        assert begun.wait(60)
        do(session, end)
        do(session, "BEGIN")
        ended.set()
        with pytest.raises(TransactionAborted, match="ended while this statement ran in it"):
            late()
        do(session, "INSERT INTO t VALUES (1)")  # the next transaction has nothing to do with it
        do(session, "COMMIT")
        assert rows(session, "SELECT id FROM t") == [(1,)]
        assert len([path for path in files(tmp_path) if path.suffix == ".parquet"]) == 1


def test_an_error_among_the_rows_aborts(tmp_path: Path) -> None:
    with an_engine(tmp_path) as engine:
        session = engine.session()
        do(session, "CREATE TABLE t AS SELECT CAST(1 AS BIGINT) AS id")
        do(session, "BEGIN")
        do(session, "INSERT INTO t VALUES (2)")
        result = session.run("SELECT CAST(v AS INT) FROM (VALUES ('1'), ('x')) AS s(v)")
        with pytest.raises(ExecutionError):
            result.read_all()
        with pytest.raises(TransactionAborted):
            do(session, "SELECT 1")
        do(session, "ROLLBACK")
        assert rows(session, "SELECT id FROM t") == [(1,)]


@pytest.mark.parametrize("happens", [True, False])
def test_a_commit_without_an_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, happens: bool) -> None:
    """What happened is found by looking; what is not found keeps its files."""
    theirs = SqlCatalog.commit_tables

    def lost(self: SqlCatalog, changes: Any) -> None:
        if happens:
            theirs(self, changes)
        raise CommitStateUnknownException("the line went dead")

    monkeypatch.setattr(SqlCatalog, "commit_tables", lost)
    with an_engine(tmp_path) as engine:
        session = engine.session()
        do(session, "CREATE TABLE t AS SELECT CAST(1 AS BIGINT) AS id")
        begun(session)
        written = files(tmp_path)
        if happens:
            do(session, "COMMIT")
            assert sorted(rows(session, "SELECT id FROM t")) == [(11,), (12,)]
        else:
            with pytest.raises(CommitUnknown, match="it is not known whether all of the transaction was committed"):
                do(session, "COMMIT")
            assert rows(session, "SELECT id FROM t") == [(1,)]
        assert written <= files(tmp_path)


def test_a_catalog_that_fails_at_the_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(self: SqlCatalog, changes: Any) -> None:
        raise CatalogUnavailable("the database is gone")

    with an_engine(tmp_path) as engine:
        session = engine.session()
        do(session, "CREATE TABLE t AS SELECT CAST(1 AS BIGINT) AS id")
        before = files(tmp_path)
        begun(session)
        monkeypatch.setattr(SqlCatalog, "commit_tables", fail)
        with pytest.raises(CatalogUnavailable):
            do(session, "COMMIT")
        monkeypatch.undo()
        assert files(tmp_path) == before
        assert rows(session, "SELECT id FROM t") == [(1,)]


def test_commit_and_rollback_of_a_connection(tmp_path: Path) -> None:
    with pinakes.connect(data=str(tmp_path)) as connection:
        connection.execute("CREATE TABLE t AS SELECT 1 AS id")
        connection.commit()
        connection.execute("BEGIN")
        connection.execute("DELETE FROM t")
        connection.rollback()
        connection.execute("BEGIN")
        connection.execute("INSERT INTO t VALUES (2)")
        connection.commit()
        assert connection.sql("SELECT count(*) FROM t").fetchall() == [(2,)]
        with pytest.raises(connection.NotSupportedError, match="unless BEGIN came before"):
            connection.rollback()


def test_a_rollback_leaves_what_cherrypick_took_over(tmp_path: Path) -> None:
    """Its files are those of another snapshot, which is still there."""
    with an_engine(tmp_path) as engine:
        session = engine.session()
        do(session, "CREATE TABLE t AS SELECT 1 AS id")
        do(session, "ALTER TABLE t CREATE BRANCH b")
        do(session, "INSERT INTO t FOR BRANCH b VALUES (2)")
        do(session, "INSERT INTO t VALUES (3)")
        picked = session.resolver.table(Name.of("t"))[1].handle.metadata.refs["b"].snapshot_id
        before = files(tmp_path)
        do(session, "BEGIN")
        do(session, f"CALL system.cherrypick_snapshot('t', {picked})")
        do(session, "INSERT INTO t VALUES (4)")
        assert sorted(rows(session, "SELECT id FROM t")) == [(1,), (2,), (3,), (4,)]
        do(session, "ROLLBACK")
        assert files(tmp_path) == before
        assert sorted(rows(session, "SELECT id FROM t FOR VERSION AS OF 'b'")) == [(1,), (2,)]


@pytest.mark.parametrize("change", ["DROP TABLE t", "ALTER TABLE t RENAME TO gone"])
def test_a_table_that_was_used_stays_until_the_end(tmp_path: Path, change: str) -> None:
    with an_engine(tmp_path) as engine:
        session, other = engine.session(), engine.session()
        do(session, "CREATE TABLE t AS SELECT 1 AS id")
        do(session, "BEGIN")
        do(session, "SELECT * FROM t")
        do(other, change)
        assert rows(session, "SELECT id FROM t") == [(1,)]
        assert ("t",) in rows(session, "SHOW TABLES")
        do(session, "INSERT INTO t VALUES (2)")
        with pytest.raises(TableNotFound, match=r"^table default\.t does not exist$"):
            do(session, "COMMIT")


def test_the_name_of_a_new_table_is_taken_meanwhile(tmp_path: Path) -> None:
    with an_engine(tmp_path) as engine:
        session, other = engine.session(), engine.session()
        do(session, "BEGIN")
        do(session, "CREATE TABLE t AS SELECT 1 AS id")
        do(other, "CREATE TABLE t AS SELECT 'x' AS v")
        with pytest.raises(TableExists, match=r"^a table named default\.t already exists$"):
            do(session, "COMMIT")
        assert rows(session, "SELECT * FROM t") == [("x",)]
