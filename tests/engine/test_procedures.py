"""Procedures that take ids of snapshots, and those that remove files: nothing goes that any snapshot leads to."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from pinakes.core.errors import DataCorrupt, InvalidArgument
from pinakes.core.names import Name
from pinakes.engine.iceberg.write import commit as commit_module
from pinakes.engine.procedures import call
from pinakes.engine.session import Session
from tests.engine.support import an_engine, do, parquet_files, rows

LATER = "older_than => now() + INTERVAL '1' DAY"


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    with an_engine(tmp_path) as engine:
        session = engine.session()
        do(session, "CREATE TABLE t (id BIGINT)")
        for number in (1, 2, 3):
            do(session, f"INSERT INTO t VALUES ({number})")
        yield session


def handle(session: Session) -> Any:
    return session.resolver.table(Name.of("t"))[1].handle


def ids(session: Session) -> list[int]:
    return [snapshot.snapshot_id for snapshot in handle(session).metadata.snapshots]


def content(session: Session, version: str = "") -> list[int]:
    return sorted(number for (number,) in rows(session, f"SELECT id FROM t {version}"))


# --- back and forth ------------------------------------------------------------------------------------------------


def test_rollback_to_snapshot(session: Session) -> None:
    first, second, third = ids(session)
    assert rows(session, f"CALL system.rollback_to_snapshot('t', {second})") == [(third, second)]
    assert content(session) == [1, 2]
    with pytest.raises(InvalidArgument, match="is not an ancestor of the current snapshot"):
        do(session, f"CALL system.rollback_to_snapshot('t', {third})")
    assert rows(session, f"CALL system.set_current_snapshot('t', {third})") == [(second, third)]
    assert content(session) == [1, 2, 3]
    before = handle(session).metadata_location
    assert rows(session, f"CALL system.set_current_snapshot('t', {third})") == [(third, third)]
    assert handle(session).metadata_location == before, "nothing is committed that changes nothing"
    assert rows(session, "CALL system.rollback_to_snapshot($1, $2)", ["t", first]) == [(third, first)]


def test_rollback_to_timestamp(session: Session) -> None:
    time.sleep(0.01)
    moment = handle(session).metadata.snapshots[1].timestamp_ms
    sql = f"CALL system.rollback_to_timestamp('t', to_timestamp_millis({moment}))"
    assert rows(session, sql)[0][1] == ids(session)[1]
    assert content(session) == [1, 2]


def test_cherrypick(session: Session) -> None:
    do(session, "ALTER TABLE t CREATE BRANCH b")
    do(session, "INSERT INTO t FOR BRANCH b VALUES (4)")
    picked = handle(session).metadata.refs["b"].snapshot_id
    do(session, "INSERT INTO t VALUES (5)")
    ((source, current),) = rows(session, f"CALL system.cherrypick_snapshot('t', {picked})")
    assert (source, content(session)) == (picked, [1, 2, 3, 4, 5])
    assert handle(session).metadata.snapshot_by_id(current).summary["source-snapshot-id"] == str(picked)
    with pytest.raises(InvalidArgument, match=r"has what snapshot .* added already"):
        do(session, f"CALL system.cherrypick_snapshot('t', {picked})")
    do(session, "DELETE FROM t FOR BRANCH b WHERE id = 1")
    deleted = handle(session).metadata.refs["b"].snapshot_id
    with pytest.raises(InvalidArgument, match="did not only add rows"):
        do(session, f"CALL system.cherrypick_snapshot('t', {deleted})")
    do(session, "ALTER TABLE t CREATE OR REPLACE BRANCH b")
    do(session, "DELETE FROM t FOR BRANCH b WHERE id = 1")
    deleted = handle(session).metadata.refs["b"].snapshot_id
    assert rows(session, f"CALL system.cherrypick_snapshot('t', {deleted})") == [(deleted, deleted)]
    assert content(session) == [2, 3, 4, 5]


# --- files that go -------------------------------------------------------------------------------------------------


def test_expired_snapshots_take_their_files_along(session: Session, tmp_path: Path) -> None:
    do(session, "UPDATE t SET id = id + 10")
    assert len(parquet_files(tmp_path)) == 4
    ((data, *deletes, manifests, lists, _),) = rows(session, f"CALL system.expire_snapshots('t', {LATER})")
    assert (data, deletes, lists) == (3, [0, 0], 3)
    assert manifests >= 3
    assert len(parquet_files(tmp_path)) == 1
    assert (content(session), len(ids(session))) == ([11, 12, 13], 1)
    assert rows(session, f"CALL system.remove_orphan_files('t', {LATER})") == [], "nothing was forgotten"


def test_what_a_branch_or_a_tag_leads_to_stays(session: Session, tmp_path: Path) -> None:
    do(session, f"ALTER TABLE t CREATE TAG old AS OF VERSION {ids(session)[1]}")
    do(session, "ALTER TABLE t CREATE BRANCH b")
    do(session, "INSERT INTO t FOR BRANCH b VALUES (4)")
    do(session, "DELETE FROM t")
    rows(session, f"CALL system.expire_snapshots('t', {LATER})")
    assert content(session) == []
    assert content(session, "FOR VERSION AS OF 'old'") == [1, 2]
    assert content(session, "FOR VERSION AS OF 'b'") == [1, 2, 3, 4]


def test_which_ones_expire(session: Session) -> None:
    first, second, third = ids(session)
    assert rows(session, "CALL system.expire_snapshots('t')") == [(0, 0, 0, 0, 0, 0)], "none is five days old"
    rows(session, f"CALL system.expire_snapshots('t', {LATER}, retain_last => 2)")
    assert ids(session) == [second, third]
    with pytest.raises(InvalidArgument, match=r"can't expire: 'main' of lake\.default\.t stands at it"):
        rows(session, f"CALL system.expire_snapshots('t', snapshot_ids => [{third}])")
    rows(session, f"CALL system.expire_snapshots('t', snapshot_ids => [{second}])")
    assert (ids(session), content(session)) == ([third], [1, 2, 3])
    assert first not in ids(session)


def test_a_branch_whose_time_is_over_goes(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    do(session, "ALTER TABLE t CREATE TAG brief RETAIN 1 MINUTES")
    do(session, "ALTER TABLE t CREATE TAG lasting")
    do(session, "INSERT INTO t VALUES (4)")

    class Tomorrow(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> Any:
            return datetime.now(UTC) + timedelta(days=1)

    monkeypatch.setattr(call, "datetime", Tomorrow)
    monkeypatch.setitem(call._PYTHON, "timestamp", datetime)
    rows(session, "CALL system.expire_snapshots('t')")
    assert sorted(handle(session).metadata.refs) == ["lasting", "main"]


def test_on_doubt_nothing_expires(session: Session, tmp_path: Path) -> None:
    """A manifest that is left can't be read: nobody knows what it leads to."""
    do(session, "UPDATE t SET id = id + 10")
    current = handle(session)
    manifest = Path(current.current_snapshot().manifests(current.io)[0].manifest_path.removeprefix("file://"))
    whole, before = manifest.read_bytes(), parquet_files(tmp_path)
    manifest.write_bytes(b"broken")
    with pytest.raises(DataCorrupt):
        rows(session, f"CALL system.expire_snapshots('t', {LATER})")
    with pytest.raises(DataCorrupt):
        rows(session, f"CALL system.remove_orphan_files('t', {LATER}, dry_run => false)")
    manifest.write_bytes(whole)
    assert parquet_files(tmp_path) == before
    assert (content(session), len(ids(session))) == ([11, 12, 13], 4)


def test_orphans(session: Session, tmp_path: Path) -> None:
    place = Path(handle(session).metadata.location.removeprefix("file://"))
    orphan, recent = place / "data" / "left behind.parquet", place / "data" / "just now.parquet"
    other = place / "inner" / "metadata" / "00000-a.metadata.json"
    for path in (orphan, recent, other, place / "inner" / "data.parquet"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")
    week_ago = time.time() - 7 * 86400
    for path in (orphan, other, place / "inner" / "data.parquet"):
        os.utime(path, (week_ago, week_ago))
    assert _orphans(session, "older_than => now() + INTERVAL '1' DAY") == [recent.name, orphan.name]
    assert recent.exists(), "younger than three days: only told"
    assert _orphans(session, "dry_run => true") == [orphan.name]
    assert _orphans(session, "") == [orphan.name]
    assert (orphan.exists(), recent.exists(), other.exists()) == (False, True, True)
    assert (place / "inner" / "data.parquet").exists(), "it may be another table's"
    assert content(session) == [1, 2, 3]
    with pytest.raises(InvalidArgument, match="is not below that of"):
        _orphans(session, f"location => '{tmp_path}'")


# --- at the same time ----------------------------------------------------------------------------------------------


def right_before_the_commit(monkeypatch: pytest.MonkeyPatch, session: Session, sql: str) -> None:
    """Another session does something when the next statement is about to commit."""
    other, theirs, left = session.engine.session(), commit_module._compare_and_set, [sql]

    def meddling(transaction: Any) -> None:
        if left:
            do(other, left.pop())
        theirs(transaction)

    monkeypatch.setattr(commit_module, "_compare_and_set", meddling)


def test_a_tag_that_is_made_while_snapshots_expire(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    do(session, "INSERT OVERWRITE t VALUES (9)")
    old = ids(session)[0]
    right_before_the_commit(monkeypatch, session, f"ALTER TABLE t CREATE TAG kept AS OF VERSION {old}")
    do(session, f"CALL system.expire_snapshots('t', {LATER})")
    assert content(session, "FOR VERSION AS OF 'kept'") == [1]
    assert (content(session), len(ids(session))) == ([9], 2)


def test_a_snapshot_that_expires_while_it_is_picked(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its files are gone, so they must not become part of the table."""
    do(session, "ALTER TABLE t CREATE BRANCH b")
    do(session, "INSERT INTO t FOR BRANCH b VALUES (4)")
    picked = handle(session).metadata.refs["b"].snapshot_id
    do(session, "INSERT INTO t VALUES (5)")
    do(session, "ALTER TABLE t DROP BRANCH b")
    right_before_the_commit(monkeypatch, session, f"CALL system.expire_snapshots('t', {LATER})")
    with pytest.raises(InvalidArgument, match=f"to unknown snapshot {picked}"):
        do(session, f"CALL system.cherrypick_snapshot('t', {picked})")
    assert content(session) == [1, 2, 3, 5]


@pytest.mark.parametrize(
    "spelled", ["{0}/./{1}/data", "{0}//{1}/data", "file:{0}/{1}/data", "file://{0}/{1}/data", "{2}"]
)
def test_files_of_the_table_under_another_spelling(session: Session, tmp_path: Path, spelled: str) -> None:
    """What the metadata calls otherwise than the directory does is a file of the table all the same."""
    place = Path(handle(session).metadata.location.removeprefix("file://"))
    link = tmp_path / "link"
    link.symlink_to(place / "data")
    path = spelled.format(place.parent, place.name, link)
    do(session, f"ALTER TABLE t SET PROPERTIES ('write.data.path' = '{path}')")
    do(session, "INSERT INTO t VALUES (4)")
    (place / "data" / "orphan.parquet").write_text("x")
    assert _orphans(session, f"{LATER}, dry_run => false") == ["orphan.parquet"]
    assert content(session) == [1, 2, 3, 4]
    with pytest.raises(InvalidArgument, match="is not below that of"):
        _orphans(session, f"location => '{place.parent}'")


def _orphans(session: Session, arguments: str) -> list[str]:
    sql = f"CALL system.remove_orphan_files('t'{', ' if arguments else ''}{arguments})"
    return sorted(path.rpartition("/")[2] for (path,) in rows(session, sql))
