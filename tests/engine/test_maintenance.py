"""Files written anew while others read and change the table: no row is lost, none comes back, none is there twice."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from pinakes.core.names import Name
from pinakes.engine.iceberg.scan.tasks import Task, plan
from pinakes.engine.iceberg.write import commit as commit_module
from pinakes.engine.session import Session
from tests.engine.delete_files import delete_equal, delete_positions_of
from tests.engine.support import an_engine, chance, do, how_many, in_order, parquet_files, rows, seed_of
from tests.engine.test_changes_at_once import watched

ALL = "options => map('rewrite-all', 'true')"
REWRITES = (
    f"CALL system.rewrite_data_files('t', {ALL})",
    "CALL system.rewrite_manifests('t')",
    f"CALL system.rewrite_position_delete_files('t', {ALL})",
)


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    with an_engine(tmp_path) as engine:
        yield engine.session()


def handle(session: Session) -> Any:
    return session.resolver.table(Name.of("t"))[1].handle


def a_table(session: Session, version: int, mode: str = "merge-on-read") -> None:
    """Of six commits, with deletes."""
    modes = ", ".join(f"'write.{what}.mode' = '{mode}'" for what in ("delete", "update", "merge"))
    do(
        session,
        f"CREATE TABLE t (id BIGINT, p VARCHAR, v DOUBLE) PARTITIONED BY (p) TBLPROPERTIES ('format-version' = "
        f"'{version}', 'commit.manifest-merge.enabled' = 'false', {modes})",
    )
    for start in range(0, 60, 10):
        do(
            session,
            f"INSERT INTO t SELECT x, 'p' || (x % 2), x / 2.0 FROM unnest(range({start}, {start + 10})) AS u(x)",
        )
    do(session, "DELETE FROM t WHERE id % 7 = 3")
    do(session, "UPDATE t SET v = -1 WHERE id % 10 = 4")


def content(session: Session) -> list[tuple[Any, ...]]:
    handle(session)  # what is remembered of it goes
    return in_order(rows(session, "SELECT * FROM t"))


def right_before_the_commit(monkeypatch: pytest.MonkeyPatch, session: Session, sql: str) -> list[str]:
    """Another session does something when the next statement is about to commit. What is left to do by then."""
    other, theirs, left = session.engine.session(), commit_module._compare_and_set, [sql]

    def meddling(transaction: Any) -> None:
        if left:
            do(other, left.pop())
        theirs(transaction)

    monkeypatch.setattr(commit_module, "_compare_and_set", meddling)
    return left


@pytest.mark.parametrize("version", [2, 3])
@pytest.mark.parametrize("rewrite", REWRITES)
def test_the_rows_stay_the_same(session: Session, version: int, rewrite: str) -> None:
    a_table(session, version)
    before, first = content(session), handle(session).current_snapshot()
    rows(session, rewrite)
    snapshot = handle(session).current_snapshot()
    assert snapshot.summary.operation.value == "replace"
    assert snapshot.parent_snapshot_id == first.snapshot_id
    assert content(session) == before
    assert rows(session, f"SELECT count(*) FROM t FOR VERSION AS OF {first.snapshot_id}") == [(len(before),)]
    do(session, "DELETE FROM t WHERE id < 5")
    do(session, "UPDATE t SET v = 7 WHERE id = 20")
    assert len(content(session)) == len([row for row in before if row[0] >= 5])


@pytest.mark.slow
@pytest.mark.parametrize("version", [2, 3])
@pytest.mark.parametrize("rewrite", REWRITES)
@pytest.mark.parametrize(
    "change",
    [
        "INSERT INTO lake.default.t VALUES (100, 'p1', 1), (101, 'new', 2)",
        "DELETE FROM lake.default.t WHERE id = 8",
        "UPDATE lake.default.t SET v = 99 WHERE id = 8",
        "DELETE FROM lake.default.t WHERE p = 'p1'",
        "CALL lake.system.rewrite_data_files('default.t', options => map('rewrite-all', 'true'))",
    ],
    ids=["insert", "delete", "update", "whole", "rewrite"],
)
def test_others_commit_meanwhile(
    session: Session, monkeypatch: pytest.MonkeyPatch, version: int, rewrite: str, change: str
) -> None:
    """The change of the other is there, whole, whatever is written anew."""
    a_table(session, version)
    expected = {row[0]: row for row in content(session)}
    if "INSERT" in change:
        expected |= {100: (100, "p1", 1.0), 101: (101, "new", 2.0)}
    elif "id = 8" in change:
        expected.pop(8) if "DELETE" in change else expected.update({8: (8, "p0", 99.0)})
    elif "p1" in change:
        expected = {n: row for n, row in expected.items() if row[1] != "p1"}
    left = right_before_the_commit(monkeypatch, session, change)
    rows(session, rewrite)
    assert not left
    assert content(session) == in_order(list(expected.values()))


def test_rows_that_come_do_not_make_it_begin_again(
    session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor do deletes from other files: the files are written once."""
    a_table(session, 2)
    for change in ("INSERT INTO t VALUES (100, 'p1', 1)", "DELETE FROM t WHERE id = 1"):
        right_before_the_commit(monkeypatch, session, change)
        files = len(parquet_files(tmp_path))
        ((rewritten, added, *_),) = rows(session, f"CALL system.rewrite_data_files('t', {ALL}, where => 'p = ''p0''')")
        assert rewritten >= added > 0
        more = len(parquet_files(tmp_path)) - files
        assert more == added + 1, "those of the rewrite, and the one that the other made"


def test_readers_are_not_disturbed(session: Session) -> None:
    a_table(session, 2)
    ((count, total),) = rows(session, "SELECT count(*), sum(id) FROM t")

    def change() -> None:
        for number in range(6):
            rows(session, REWRITES[number % 3])

    assert watched(session.engine, "SELECT count(*), sum(id) FROM lake.default.t", change) == {(count, total)}


def test_rows_keep_their_lineage(session: Session) -> None:
    """In version 3 a row keeps its id and the number of its last change when it is moved."""
    a_table(session, 3, "copy-on-write")
    before = _lineage(session)
    assert len({row_id for row_id, _ in before.values()}) == len(before)
    for rewrite in (REWRITES[0], REWRITES[1], REWRITES[0]):
        rows(session, rewrite)
        assert _lineage(session) == before


def _lineage(session: Session) -> dict[int, tuple[int, int]]:
    """The id of each row, and when it was changed last."""
    from pinakes.engine.iceberg.scan.dataset import IcebergDataset
    from pinakes.engine.iceberg.scan.lineage import LINEAGE

    table = session.resolver.table(Name.of("t"))[1]
    tasks = plan(table)
    dataset = IcebergDataset(table, "UTC", {task.file.file_path: n for n, task in enumerate(tasks)}, tasks=tasks)
    found = {}
    for task in tasks:
        for batch in dataset.read(task, ["id", *LINEAGE]):
            ids, row_ids, numbers = (batch.column(name).to_pylist() for name in ("id", *LINEAGE))
            found.update(dict(zip(ids, zip(row_ids, numbers, strict=True), strict=True)))
    return found


def test_what_fails_leaves_no_files(session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    a_table(session, 2)
    before, files = content(session), parquet_files(tmp_path)

    def broken(transaction: Any) -> None:
        raise RuntimeError("the catalog says no")

    with monkeypatch.context() as patch:
        patch.setattr(commit_module, "_compare_and_set", broken)
        with pytest.raises(Exception, match="the catalog says no"):
            rows(session, REWRITES[0])
    assert parquet_files(tmp_path) == files
    assert content(session) == before


@pytest.mark.slow
def test_any_changes_and_rewrites(session: Session) -> None:
    """A table and a copy of its rows in another: the same changes, and the first is written anew now and then."""
    dice = chance(seed_of("maintenance"), "mixed")
    a_table(session, 2)
    do(session, "CREATE TABLE copy AS SELECT * FROM t")
    for number in range(how_many(25, 300)):
        statement = _some(dice, number)
        if "CALL" in statement:
            rows(session, statement.format("t"))
        else:
            do(session, statement.format("t"))
            do(session, statement.format("copy"))
        assert content(session) == in_order(rows(session, "SELECT * FROM copy")), statement


def _some(dice: random.Random, number: int) -> str:
    low = dice.randrange(0, 70)
    return dice.choice(
        (
            f"INSERT INTO {{}} VALUES ({1000 + number}, 'p{dice.randrange(4)}', {number})",
            f"DELETE FROM {{}} WHERE id BETWEEN {low} AND {low + 3}",
            f"UPDATE {{}} SET v = {number} WHERE id % 9 = {number % 9}",
            f"UPDATE {{}} SET p = 'p{dice.randrange(3)}' WHERE id % 11 = {number % 11}",
            "CALL system.rewrite_data_files('{}', options => map('min-input-files', '2'))",
            f"CALL system.rewrite_data_files('{{}}', {ALL}, where => 'id > {low}')",
            "CALL system.rewrite_data_files('{}', 'sort', 'v DESC, id', map('rewrite-all', 'true'))",
            "CALL system.rewrite_manifests('{}')",
            f"CALL system.rewrite_position_delete_files('{{}}', {ALL})",
        )
    )


# --- deletes of other engines ----------------------------------------------------------------------------------------


def a_plain_table(session: Session) -> list[Task]:
    """Three files; and how they are read."""
    do(session, "CREATE TABLE t (id BIGINT, p VARCHAR) TBLPROPERTIES ('format-version' = '2')")
    for start in (0, 10, 20):
        do(session, f"INSERT INTO t SELECT x, 'p' FROM unnest(range({start}, {start + 10})) AS u(x)")
    return sorted(plan(session.resolver.table(Name.of("t"))[1]), key=lambda task: task.sequence)


def _ids(*numbers: int) -> pa.Table:
    field = pa.field("id", pa.int64(), metadata={"PARQUET:field_id": "1"})
    return pa.table([pa.array(numbers, pa.int64())], schema=pa.schema([field]))


def deletes(session: Session) -> int:
    handle(session)  # what is remembered of it goes
    return len(rows(session, 'SELECT 1 FROM "t$files" WHERE content > 0'))


def test_deletes_by_value_are_applied(session: Session) -> None:
    """They apply to files that are older, and not to what was moved meanwhile: so rows may come again."""
    a_plain_table(session)
    delete_equal(handle(session), None, _ids(3, 12, 22), [1])
    do(session, "INSERT INTO t VALUES (3, 'again')")
    before = content(session)
    assert len(before) == 28
    ((rewritten, added, _, _, removed),) = rows(session, REWRITES[0])
    assert (rewritten, added, removed) == (4, 1, 1)
    assert content(session) == before
    assert deletes(session) == 0


def test_a_delete_of_several_files_stays_while_one_is_left(session: Session) -> None:
    first, second, third = a_plain_table(session)
    delete_positions_of(handle(session), [(first, [1]), (second, [2]), (third, [3])])
    before = content(session)
    rows(session, f"CALL system.rewrite_data_files('t', {ALL}, where => 'id < 15')")
    assert (content(session), deletes(session)) == (before, 1)
    rows(session, f"CALL system.rewrite_data_files('t', {ALL}, where => 'id > 20')")
    assert (content(session), deletes(session)) == (before, 0)


def test_deletes_that_apply_to_nothing_go(session: Session) -> None:
    first, second, _ = a_plain_table(session)
    delete_positions_of(handle(session), [(first, [1]), (second, [2])])
    delete_positions_of(handle(session), [(first, [4])])
    before = content(session)
    assert deletes(session) == 2
    ((replaced, added, *_),) = rows(session, "CALL system.rewrite_position_delete_files('t')")
    assert (replaced, added) == (2, 2)
    assert (content(session), deletes(session)) == (before, 2)
    do(session, "DELETE FROM t WHERE id < 10")  # the whole file, whatever was deleted of it
    assert rows(session, "CALL system.rewrite_position_delete_files('t')")[0][1] == 0
    assert content(session) == [row for row in before if row[0] >= 10]


def test_a_delete_by_value_that_comes_meanwhile(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    """It may be of any file, so all is read again: else the rows would be back."""
    a_plain_table(session)
    theirs, left = commit_module._compare_and_set, [_ids(5, 25)]

    def meddling(transaction: Any) -> None:
        if left:
            delete_equal(handle(session.engine.session()), None, left.pop(), [1])
        theirs(transaction)

    monkeypatch.setattr(commit_module, "_compare_and_set", meddling)
    rows(session, REWRITES[0])
    assert {row[0] for row in content(session)} == set(range(30)) - {5, 25}
