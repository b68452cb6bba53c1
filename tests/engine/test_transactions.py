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
    CommitConflict,
    CommitUnknown,
    ExecutionError,
    PermissionDenied,
    PinakesError,
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
                with pytest.raises(TransactionAborted, match="rolled back because"):
                    do(session, "COMMIT")
            else:
                do(session, "ROLLBACK")
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
def test_a_statement_that_comes_too_late_is_reported(tmp_path: Path, end: str) -> None:
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


def test_what_has_no_effect_is_a_warning(tmp_path: Path) -> None:
    with an_engine(tmp_path) as engine:
        session = engine.session()
        do(session, "COMMIT")
        do(session, "ROLLBACK")
        do(session, "BEGIN")
        do(session, "BEGIN READ ONLY")
        assert [warning.split(":")[0] for warning in session.warnings] == [
            "there is no transaction to commit",
            "there is no transaction to roll back",
            "a transaction has begun already",
        ]
        with pytest.raises(PermissionDenied, match="READ ONLY"):
            do(session, "CREATE TABLE t (id INT)")


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
            with pytest.raises(CommitUnknown, match="it is unknown whether all of the transaction was committed"):
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
        with pytest.raises(CommitConflict, match=r"changed this meanwhile: table default\.t"):
            do(session, "COMMIT")


def test_the_name_of_a_new_table_is_taken_meanwhile(tmp_path: Path) -> None:
    with an_engine(tmp_path) as engine:
        session, other = engine.session(), engine.session()
        do(session, "BEGIN")
        do(session, "CREATE TABLE t AS SELECT 1 AS id")
        do(other, "CREATE TABLE t AS SELECT 'x' AS v")
        with pytest.raises(CommitConflict, match=r"the name default\.t, which is taken"):
            do(session, "COMMIT")
        assert rows(session, "SELECT * FROM t") == [("x",)]


# --- definitions -----------------------------------------------------------------------------------------------------


def define(session: Session) -> None:
    """Everything that has a name, made, changed and dropped."""
    for sql in (
        "BEGIN",
        "CREATE SCHEMA s",
        "CREATE TABLE s.made AS SELECT 1 AS id",
        "ALTER TABLE s.made RENAME TO s.kept",
        "INSERT INTO s.kept VALUES (2)",
        "CREATE VIEW s.v AS SELECT id FROM s.kept",
        "CREATE OR REPLACE VIEW s.v AS SELECT id + 1 AS id FROM s.kept",
        "CREATE VIEW s.w AS SELECT 1 AS x",
        "DROP VIEW s.w",
        "CREATE TABLE s.passing AS SELECT 1 AS id",
        "DROP TABLE s.passing",
        "INSERT INTO old VALUES (2)",
        "ALTER TABLE old RENAME TO s.moved",
        "INSERT INTO dropped VALUES (2)",
        "DROP TABLE dropped PURGE",
    ):
        do(session, sql)


@pytest.mark.parametrize("end", ["ROLLBACK", "close", "abort", "COMMIT"])
def test_definitions_are_part_of_a_transaction(tmp_path: Path, end: str) -> None:
    with an_engine(tmp_path) as engine, an_engine(tmp_path) as second:
        session = engine.session()
        others = [engine.session(), second.session()]
        for table in ("old", "dropped"):
            do(session, f"CREATE TABLE {table} AS SELECT 1 AS id")
        before = files(tmp_path)
        define(session)
        assert rows(session, "SELECT id FROM s.moved ORDER BY id") == [(1,), (2,)]
        for other in others:
            assert rows(other, "SHOW TABLES") == [("dropped",), ("old",)]
            assert rows(other, "SHOW SCHEMAS LIKE 's'") == []
        assert before <= files(tmp_path)
        if end == "close":
            session.close()
        elif end == "abort":
            with pytest.raises(PinakesError):
                do(session, "CREATE TABLE s.kept (x INT)")
            with pytest.raises(TransactionAborted):
                do(session, "COMMIT")
        else:
            do(session, end)
        if end != "COMMIT":
            assert files(tmp_path) == before
            assert all(rows(other, "SHOW TABLES") == [("dropped",), ("old",)] for other in others)
            return
        do(others[1], "CALL system.runtime.flush_cache('listings')")  # the other engine does not know of it
        for other in (session, *others):
            assert rows(other, "SHOW TABLES") == []
            assert rows(other, "SHOW TABLES IN s") == [("kept",), ("moved",), ("v",)]
            assert sorted(rows(other, "SELECT id FROM s.v")) == [(2,), (3,)]
            assert sorted(rows(other, "SELECT id FROM s.moved")) == [(1,), (2,)]
        assert not [path for path in files(tmp_path) if "dropped-" in str(path) or "passing-" in str(path)]
        for table in ("kept", "moved"):
            call = (
                f"CALL system.remove_orphan_files('s.{table}', older_than => now() + INTERVAL '1' DAY, dry_run => true)"
            )
            assert rows(session, call) == []


@pytest.mark.parametrize(
    ("mine", "theirs"),
    [
        ("CREATE SCHEMA n", "CREATE SCHEMA n"),
        ("DROP SCHEMA s", "CREATE TABLE s.t (x INT)"),
        ("CREATE TABLE s.t (x INT)", "DROP SCHEMA s"),
        ("ALTER SCHEMA s SET PROPERTIES ('k' = 'mine')", "ALTER SCHEMA s SET PROPERTIES ('k' = 'theirs')"),
        ("CREATE VIEW v AS SELECT 1 AS x", "CREATE TABLE v (x INT)"),
        ("CREATE OR REPLACE VIEW known AS SELECT 2 AS x", "CREATE OR REPLACE VIEW known AS SELECT 3 AS x"),
        ("DROP VIEW known", "CREATE OR REPLACE VIEW known AS SELECT 3 AS x"),
        ("ALTER TABLE t RENAME TO r", "INSERT INTO t VALUES (2)"),
        ("ALTER TABLE t RENAME TO r", "CREATE TABLE r (x INT)"),
        ("DROP TABLE t", "ALTER TABLE t RENAME TO r"),
    ],
)
def test_definitions_of_others_meanwhile_are_a_conflict(tmp_path: Path, mine: str, theirs: str) -> None:
    with an_engine(tmp_path) as engine:
        session, other = engine.session(), engine.session()
        for sql in (
            "CREATE SCHEMA s",
            "CREATE TABLE t AS SELECT 1 AS id",
            "CREATE VIEW known AS SELECT 1 AS x",
            "BEGIN",
        ):
            do(session, sql)
        do(session, mine)
        do(other, theirs)
        left = rows(other, "SELECT table_schema, table_name FROM lake.information_schema.tables ORDER BY 1, 2")
        with pytest.raises(CommitConflict, match="the transaction was rolled back"):
            do(session, "COMMIT")
        assert (
            rows(session, "SELECT table_schema, table_name FROM lake.information_schema.tables ORDER BY 1, 2") == left
        )


def test_definitions_of_others_elsewhere_are_none(tmp_path: Path) -> None:
    """Neither other names, nor what a change of a table does not build on."""
    with an_engine(tmp_path) as engine:
        session, other = engine.session(), engine.session()
        do(session, "CREATE TABLE t AS SELECT 1 AS id")
        do(session, "BEGIN")
        do(session, "CREATE SCHEMA s")
        do(session, "INSERT INTO t VALUES (2)")
        for sql in ("CREATE SCHEMA n", "CREATE TABLE n.u (x INT)", "ALTER TABLE t CREATE TAG meanwhile"):
            do(other, sql)
        do(session, "COMMIT")
        assert sorted(rows(other, "SELECT id FROM t")) == [(1,), (2,)]
        assert rows(other, "SELECT id FROM t FOR VERSION AS OF 'meanwhile'") == [(1,)]
        assert rows(other, "SHOW TABLES IN n") == [("u",)]


def test_a_definition_that_takes_effect_at_once_is_a_warning(tmp_path: Path) -> None:
    """In a catalog that commits one table at a time, and in a second one; rows are refused there."""
    with an_engine(tmp_path) as engine:
        session, other = engine.session(), engine.session()
        do(session, f"ATTACH '{tmp_path / 'hadoop'}' AS h (TYPE hadoop, CREATE true, VISIBILITY all)")
        do(session, f"ATTACH '{tmp_path / 'second'}' AS second (TYPE sqlite, VISIBILITY all)")
        do(session, "CREATE SCHEMA second.s")
        do(session, "CREATE TABLE t AS SELECT 1 AS id")
        do(session, "BEGIN")
        do(session, "INSERT INTO t VALUES (2)")
        statements = {
            "CREATE SCHEMA": "CREATE SCHEMA h.n",
            "CREATE TABLE AS": "CREATE TABLE h.n.copy AS SELECT * FROM t",
            "ALTER TABLE": "ALTER TABLE h.n.copy ADD COLUMN more INT",
            "CREATE TABLE": "CREATE OR REPLACE TABLE h.n.copy (other INT)",
            "COMMENT ON": "COMMENT ON TABLE h.n.copy IS 'known'",
            "DROP TABLE": "DROP TABLE h.n.copy",
            "CREATE VIEW": "CREATE VIEW second.s.v AS SELECT 1 AS x",
            "DROP SCHEMA": "DROP SCHEMA second.s CASCADE",
        }
        for tag, sql in statements.items():
            do(session, sql)
            (warning,) = session.warnings
            session.warnings.clear()
            assert warning.startswith(f"{tag} took effect at once: it can't be part of this transaction in catalog")
            assert warning.endswith("and ROLLBACK does not undo it")
        do(session, "CREATE TABLE u AS SELECT * FROM t")
        assert session.warnings == []
        do(session, "ROLLBACK")
        assert rows(other, "SHOW SCHEMAS IN h LIKE 'n'") == [("n",)]
        assert rows(other, "SHOW SCHEMAS IN second LIKE 's'") == []
        assert rows(other, "SHOW TABLES") == [("t",)]


def test_what_was_read_together_is_of_one_moment(tmp_path: Path) -> None:
    """Another engine moves a row from one table to the other: nobody ever sees it twice, or nowhere."""
    with an_engine(tmp_path) as engine, an_engine(tmp_path) as second:
        session, other = engine.session(), second.session()
        do(session, "CREATE TABLE a AS SELECT 1 AS id")
        do(session, "CREATE TABLE b (id BIGINT)")
        for source, target in (("a", "b"), ("b", "a"), ("a", "b")):
            do(session, "BEGIN")
            before = rows(session, f"SELECT count(*) FROM {source}")
            for sql in ("BEGIN", f"INSERT INTO {target} SELECT * FROM {source}", f"DELETE FROM {source}", "COMMIT"):
                do(other, sql)
            assert before == [(1,)]
            assert rows(session, f"SELECT count(*) FROM {target}") == [(0,)]
            do(session, "COMMIT")
            assert rows(session, f"SELECT count(*) FROM {target}") == [(1,)]
