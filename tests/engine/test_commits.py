"""Commits: re-applied where that is safe, redone or refused where it is not, signed, and found when nobody answered."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pyiceberg.exceptions import CommitStateUnknownException

from pinakes import __version__
from pinakes.core.errors import CommitConflict, CommitUnknown
from pinakes.core.names import Name
from pinakes.engine.iceberg.write import append as append_module
from pinakes.engine.iceberg.write import commit as commit_module
from pinakes.engine.iceberg.write import commit_state as unknown
from pinakes.engine.session import Session
from pinakes.providers.sql_catalog.catalog import SqlCatalog
from tests.engine.support import an_engine, do, parquet_files, rows


def metadata_of(session: Session, name: str = "t") -> Any:
    return session.resolver.table(Name.of(name))[1].handle.metadata


def manifests_of(session: Session, name: str = "t") -> list[Any]:
    handle = session.resolver.table(Name.of(name))[1].handle
    snapshot = handle.current_snapshot()
    assert snapshot is not None
    return list(snapshot.manifests(handle.io))


class Meddler:
    """Lets another session do something right before each of the next commits of the first."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, session: Session, *statements: str) -> None:
        self._session = session
        self._left = list(statements)
        self._busy = False
        self._commit = commit_module._compare_and_set
        monkeypatch.setattr(commit_module, "_compare_and_set", self)

    def __call__(self, transaction: Any) -> None:
        if self._left and not self._busy:
            self._busy = True
            do(self._session, self._left.pop(0))
            self._busy = False
        self._commit(transaction)


def test_an_append_is_applied_again_without_writing_its_files_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[int] = []
    theirs = append_module.append_files

    def counted(transaction: Any, files: Any) -> None:
        written.append(len(files))
        theirs(transaction, files)

    monkeypatch.setattr(append_module, "append_files", counted)
    with an_engine(tmp_path) as engine:
        session, other = engine.session(), engine.session()
        do(session, "CREATE TABLE t AS SELECT 1 AS id")
        Meddler(monkeypatch, other, "INSERT INTO t VALUES (2)", "DELETE FROM t WHERE id = 1")
        before = len(parquet_files(tmp_path))
        written.clear()
        do(session, "INSERT INTO t VALUES (3)")
        assert sorted(rows(session, "SELECT id FROM t")) == [(2,), (3,)]
        assert written == [1, 1], "the statement was carried out once, and so was the meddler's"
        assert len(parquet_files(tmp_path)) == before + 2


def test_an_append_to_columns_that_changed_is_redone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with an_engine(tmp_path) as engine:
        session, other = engine.session(), engine.session()
        do(session, "CREATE TABLE t (id BIGINT, v VARCHAR)")
        Meddler(monkeypatch, other, "ALTER TABLE t ADD COLUMN n INTEGER")
        do(session, "INSERT INTO t (id) VALUES (1)")
        assert rows(session, "SELECT * FROM t") == [(1, None, None)]


def test_an_append_to_another_partitioning_is_redone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with an_engine(tmp_path) as engine:
        session, other = engine.session(), engine.session()
        do(session, "CREATE TABLE t (id BIGINT, v VARCHAR)")
        Meddler(monkeypatch, other, "ALTER TABLE t ADD PARTITION FIELD v")
        do(session, "INSERT INTO t VALUES (1, 'a')")
        assert rows(session, "SELECT * FROM t WHERE v = 'a'") == [(1, "a")]
        handle = session.resolver.table(Name.of("t"))[1].handle
        (manifest,) = manifests_of(session)
        assert [e.data_file.partition[0] for e in manifest.fetch_manifest_entry(handle.io)] == ["a"]


@pytest.mark.parametrize(
    ("meddling", "left"),
    [
        ("INSERT INTO t VALUES (2, 0)", [(1, 5), (2, 5)]),
        ("UPDATE t SET v = 7 WHERE id = 1", [(1, 5)]),
        ("DELETE FROM t WHERE id = 1", []),
    ],
)
def test_a_change_whose_rows_changed_is_redone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, meddling: str, left: list[Any]
) -> None:
    """As if it had come after the other: the row that it had not read is changed, too."""
    with an_engine(tmp_path) as engine:
        session, other = engine.session(), engine.session()
        do(session, "CREATE TABLE t AS SELECT CAST(1 AS BIGINT) AS id, CAST(0 AS BIGINT) AS v")
        Meddler(monkeypatch, other, meddling)
        do(session, "UPDATE t SET v = 5")
        assert sorted(rows(session, "SELECT * FROM t")) == left


def test_snapshot_isolation_lets_others_add_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The table says that it is enough if the rows which were read are unchanged: then nothing is redone."""
    with an_engine(tmp_path) as engine:
        session, other = engine.session(), engine.session()
        do(session, "CREATE TABLE t AS SELECT CAST(1 AS BIGINT) AS id, CAST(0 AS BIGINT) AS v")
        do(session, "ALTER TABLE t SET TBLPROPERTIES ('write.delete.isolation-level' = 'snapshot')")
        Meddler(monkeypatch, other, "INSERT INTO t VALUES (2, 0)")
        do(session, "UPDATE t SET v = 5")
        assert sorted(rows(session, "SELECT * FROM t")) == [(1, 5), (2, 0)]


def test_a_change_that_never_comes_through_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commit_module, "_pause", lambda attempt: None)
    with an_engine(tmp_path) as engine:
        session, other = engine.session(), engine.session()
        do(session, "CREATE TABLE t AS SELECT CAST(1 AS BIGINT) AS id")
        files = len(parquet_files(tmp_path))
        Meddler(monkeypatch, other, *["INSERT INTO t VALUES (0)"] * commit_module.ATTEMPTS)
        with pytest.raises(CommitConflict, match=r"lake\.default\.t was changed by others each of the 12 times .*"):
            do(session, "UPDATE t SET id = id + 1")
        assert len(parquet_files(tmp_path)) == files + 12, "what it wrote is removed; the rows of the others stay"
        assert sorted(rows(session, "SELECT id FROM t")) == [(0,)] * 12 + [(1,)]


def test_the_tables_own_number_of_retries_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with an_engine(tmp_path) as engine:
        session, other = engine.session(), engine.session()
        do(session, "CREATE TABLE t (id BIGINT) WITH ('commit.retry.num-retries' = '0')")
        monkeypatch.setattr(commit_module, "ATTEMPTS", 1)
        Meddler(monkeypatch, other, "INSERT INTO t VALUES (4)")
        with pytest.raises(CommitConflict):
            do(session, "INSERT INTO t VALUES (5)")
        do(session, "INSERT INTO t VALUES (6)")
        assert sorted(rows(session, "SELECT id FROM t")) == [(4,), (6,)]


# --- what a snapshot says ------------------------------------------------------------------------------------------


def test_snapshots_are_signed(tmp_path: Path) -> None:
    with an_engine(tmp_path) as engine:
        session = engine.session()
        do(session, "CREATE TABLE t AS SELECT 1 AS id")
        do(session, "INSERT INTO t VALUES (2)")
        do(session, "UPDATE t SET id = 3 WHERE id = 2")
        do(session, "CREATE OR REPLACE TABLE t AS SELECT 9 AS id")
        ids = {query.query_id for query in engine.tracker.snapshot()}
        summaries = [snapshot.summary.additional_properties for snapshot in metadata_of(session).snapshots]
    assert len(summaries) == 4
    assert {s["pinakes.user"] for s in summaries} == {session.identity.user}
    assert {(s["engine-name"], s["engine-version"]) for s in summaries} == {("pinakes", __version__)}
    assert len({s["pinakes.query-id"] for s in summaries} & ids) == 4


@pytest.mark.parametrize("version", [1, 2, 3])
def test_manifests_are_merged(tmp_path: Path, version: int) -> None:
    """By the table's own properties; rows, row ids and deletes stay what they are."""
    with an_engine(tmp_path) as engine:
        session = engine.session()
        options = f"'format-version' = '{version}', 'commit.manifest.min-count-to-merge' = '4'"
        do(session, f"CREATE TABLE t (id BIGINT, p INT) PARTITIONED BY (p) WITH ({options})")
        for number in range(12):
            do(session, f"INSERT INTO t VALUES ({number}, {number % 2})")
            assert len(manifests_of(session)) < 5
        do(session, "DELETE FROM t WHERE id = 3")
        do(session, "INSERT INTO t VALUES (100, 1)")
        assert sorted(rows(session, "SELECT id FROM t")) == [(n,) for n in (0, 1, 2, *range(4, 12), 100)]
        do(session, "ALTER TABLE t SET TBLPROPERTIES ('commit.manifest-merge.enabled' = 'false')")
        before = len(manifests_of(session))
        for number in range(6):
            do(session, f"INSERT INTO t VALUES ({200 + number}, 0)")
        assert len(manifests_of(session)) == before + 6


# --- nobody answered -----------------------------------------------------------------------------------------------


def losing(monkeypatch: pytest.MonkeyPatch, *, happens: bool) -> None:
    """The catalog does or does not do what it is told; that is never said."""
    theirs = SqlCatalog.commit_table

    def lost(self: SqlCatalog, *args: Any) -> Any:
        if happens:
            theirs(self, *args)
        raise CommitStateUnknownException("the line went dead")

    monkeypatch.setattr(SqlCatalog, "commit_table", lost)
    monkeypatch.setattr(unknown, "LOOKS", (0.0, 0.0))


@pytest.mark.parametrize(
    ("change", "left"),
    [
        ("INSERT INTO t VALUES (2)", [(1,), (2,)]),
        ("UPDATE t SET id = 5", [(5,)]),
        ("CREATE OR REPLACE TABLE t AS SELECT 7 AS id", [(7,)]),
        ("CREATE TABLE u AS SELECT 7 AS id", [(1,)]),
    ],
)
def test_a_commit_that_happened_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: str, left: list[Any]
) -> None:
    with an_engine(tmp_path) as engine:
        session = engine.session()
        do(session, "CREATE TABLE t AS SELECT 1 AS id")
        losing(monkeypatch, happens=True)
        do(session, change)
        assert sorted(rows(session, "SELECT id FROM t")) == left


def test_a_commit_that_is_not_found_keeps_its_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It may still be on its way. `remove_orphan_files` knows them later."""
    with an_engine(tmp_path) as engine:
        session = engine.session()
        do(session, "CREATE TABLE t AS SELECT 1 AS id")
        before = parquet_files(tmp_path)
        losing(monkeypatch, happens=False)
        with pytest.raises(
            CommitUnknown, match="it is unknown whether the change happened; check before you repeat it"
        ):
            do(session, "INSERT INTO t VALUES (2)")
        monkeypatch.undo()
        (orphan,) = parquet_files(tmp_path) - before
        assert rows(session, "SELECT id FROM t") == [(1,)]
        told = [path for (path,) in rows(session, "CALL system.remove_orphan_files('t', older_than => now())")]
        assert orphan.name in {path.rpartition("/")[2] for path in told}
        assert orphan.exists()
        do(session, "CALL system.remove_orphan_files('t', older_than => now() + INTERVAL '1' DAY, dry_run => false)")
        assert not orphan.exists()
        assert rows(session, "SELECT id FROM t") == [(1,)]


@pytest.mark.parametrize("change", ["INSERT INTO t VALUES (2)", "UPDATE t SET id = 2", "DELETE FROM t WHERE id = 1"])
@pytest.mark.parametrize("mode", ["copy-on-write", "merge-on-read"])
def test_an_interrupt_removes_no_file_that_may_be_live(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: str, mode: str
) -> None:
    """Whoever runs statements in the main thread may be struck by Ctrl-C anywhere: here, right after the commit."""
    theirs = commit_module._compare_and_set

    def struck(transaction: Any) -> None:
        theirs(transaction)
        raise KeyboardInterrupt

    with an_engine(tmp_path) as engine:
        session = engine.session()
        modes = ", ".join(f"'write.{s}.mode' = '{mode}'" for s in ("update", "delete"))
        do(session, f"CREATE TABLE t WITH ({modes}) AS SELECT * FROM (VALUES (1), (5)) AS x(id)")
        monkeypatch.setattr(commit_module, "_compare_and_set", struck)
        with pytest.raises(KeyboardInterrupt):
            do(session, change)
        monkeypatch.undo()
        assert rows(session, "SELECT count(*) > 0 FROM (SELECT id + 1 FROM t)") == [(True,)]
        expected = {"I": [(1,), (2,), (5,)], "U": [(2,), (2,)], "D": [(5,)]}
        assert sorted(rows(session, "SELECT id FROM t")) == expected[change[0]]


@pytest.mark.parametrize("version", ["1", "2", "3"])
def test_a_branch_and_main_at_the_same_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str) -> None:
    """Neither moves what the other stands at, and both want the same sequence number."""
    with an_engine(tmp_path) as engine:
        session, other = engine.session(), engine.session()
        do(session, f"CREATE TABLE t WITH ('format-version' = '{version}') AS SELECT 1 AS id")
        do(session, "ALTER TABLE t CREATE BRANCH b")
        Meddler(monkeypatch, other, "INSERT INTO t VALUES (2)", "INSERT INTO t VALUES (3)")
        do(session, "INSERT INTO t FOR BRANCH b VALUES (10)")
        do(session, "DELETE FROM t FOR BRANCH b WHERE id = 1")
        assert sorted(rows(session, "SELECT id FROM t")) == [(1,), (2,), (3,)]
        assert rows(session, "SELECT id FROM t FOR VERSION AS OF 'b'") == [(10,)]


@pytest.mark.parametrize(
    ("change", "meanwhile", "returned", "left"),
    [
        ("UPDATE t SET b = b + 1 RETURNING a, b", "UPDATE t SET b = 10", [(1, 11)], [(1, 11)]),
        ("DELETE FROM t RETURNING a, b", "UPDATE t SET b = 10", [(1, 10)], []),
        ("INSERT INTO t VALUES (2, 2) RETURNING a, b", "UPDATE t SET b = 10", [(2, 2)], [(1, 10), (2, 2)]),
        (
            "MERGE INTO t USING (VALUES (1)) AS s(k) ON k = a WHEN MATCHED THEN UPDATE SET b = b + 1 RETURNING a, b",
            "UPDATE t SET b = 10",
            [(1, 11)],
            [(1, 11)],
        ),
    ],
)
def test_returning_has_the_rows_of_the_attempt_that_was_committed(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    change: str,
    meanwhile: str,
    returned: list[tuple[int, int]],
    left: list[tuple[int, int]],
) -> None:
    with an_engine(tmp_path) as engine:
        mine, other = engine.session(), engine.session()
        do(mine, "CREATE TABLE t (a INT, b INT)")
        do(mine, "INSERT INTO t VALUES (1, 1)")
        Meddler(monkeypatch, other, meanwhile)
        assert rows(mine, change) == returned
        assert rows(mine, "SELECT * FROM t ORDER BY a") == left


@pytest.mark.parametrize("version", [1, 2, 3])
@pytest.mark.parametrize(
    ("action", "left"),
    [("DO NOTHING", [(1, 10), (2, 2)]), ("DO UPDATE SET v = t.v + excluded.v", [(1, 11), (2, 2)])],
)
def test_on_conflict_sees_the_keys_that_others_added(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: int, action: str, left: list[tuple[int, int]]
) -> None:
    with an_engine(tmp_path) as engine:
        mine, other = engine.session(), engine.session()
        do(mine, f'CREATE TABLE t (id INT, v INT) WITH ("format-version" = {version})')
        do(mine, "INSERT INTO t VALUES (2, 2)")
        Meddler(monkeypatch, other, "INSERT INTO t VALUES (1, 10)")
        do(mine, f"INSERT INTO t VALUES (1, 1) ON CONFLICT (id) {action}")
        assert sorted(rows(mine, "SELECT * FROM t")) == left
