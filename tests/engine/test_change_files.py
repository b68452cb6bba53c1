"""Which files a change reads, and which it writes anew: none that it need not."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

from pinakes.core.names import Name
from pinakes.engine.iceberg.scan.dataset import IcebergDataset
from pinakes.engine.session import Session
from tests.engine.support import an_engine, chance, do, how_many, in_order, rows, seed_of


@pytest.fixture
def session() -> Iterator[Session]:
    with an_engine() as engine:
        yield engine.session()


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The files that are read to find rows, or to write them anew, in order."""
    seen: list[str] = []
    original: Callable[..., Any] = IcebergDataset.read

    def reading(self: IcebergDataset, task: Any, columns: Any) -> Any:
        seen.append(task.file.file_path)
        return original(self, task, columns)

    monkeypatch.setattr(IcebergDataset, "read", reading)
    return seen


def ten_files(session: Session, more: str = "") -> None:
    """Ids 0 to 99, ten in each file."""
    do(session, f"CREATE TABLE t (id INT, part INT, x DOUBLE, s VARCHAR) PARTITIONED BY (part) {more}")
    do(session, "INSERT INTO t SELECT id, id / 10, id / 2.0, 'text ' || id FROM unnest(range(0, 100)) AS u(id)")


def summary(session: Session) -> dict[str, str]:
    snapshot = session.resolver.table(Name.of("t"))[1].handle.current_snapshot()
    assert snapshot is not None
    assert snapshot.summary is not None
    return {"operation": snapshot.summary.operation.value, **snapshot.summary.additional_properties}


def changed(session: Session) -> tuple[str, int, int]:
    """The operation of the last snapshot, and how many data files it removed and added."""
    found = summary(session)
    return found["operation"], int(found.get("deleted-data-files", 0)), int(found.get("added-data-files", 0))


@pytest.mark.parametrize(
    ("where", "count", "removed"),
    [
        ("part = 3", 10, 1),
        ("part IN (3, 5, 7)", 30, 3),
        ("part < 4", 40, 4),
        ("part <> 4", 90, 9),
        ("NOT (part > 2)", 30, 3),
        ("id BETWEEN 20 AND 39", 20, 2),
        ("id >= 90 OR part = 0", 20, 2),
        ("part = 3 AND id >= 30", 10, 1),
        ("x >= 45.0", 10, 1),
        ("x < 5.0", 10, 1),
        ("id IS NOT NULL", 100, 10),
        ("part = 77", 0, 0),
        ("TRUE", 100, 10),
        ("part = $1", 10, 1),
    ],
)
def test_a_delete_of_whole_files_reads_nothing(
    session: Session, read: list[str], where: str, count: int, removed: int
) -> None:
    ten_files(session)
    parameters = {"1": 3} if "$1" in where else {}
    result = session.run(f"DELETE FROM t WHERE {where}", parameters)
    assert result.count == count
    assert read == []
    if removed:
        assert changed(session) == ("delete", removed, 0)
    assert rows(session, "SELECT count(*) FROM t") == [(100 - count,)]


def test_a_delete_within_files_reads_and_writes_only_these(session: Session, read: list[str]) -> None:
    ten_files(session)
    assert do(session, "DELETE FROM t WHERE id BETWEEN 35 AND 52") == 18
    assert len(set(read)) == 2
    assert changed(session) == ("overwrite", 3, 2)
    assert rows(session, "SELECT count(*) FROM t") == [(82,)]


def test_a_file_is_not_written_again_when_no_row_of_it_stays(session: Session, read: list[str]) -> None:
    """The condition can't be told from the metadata; but once it is known which rows match, nothing is left of one."""
    ten_files(session)
    assert do(session, "DELETE FROM t WHERE part = 3 AND id + 0 >= 30") == 10
    assert len(read) == 1
    assert changed(session) == ("delete", 1, 0)


def test_update_and_merge_read_and_write_only_what_can_match(session: Session, read: list[str]) -> None:
    ten_files(session)
    assert do(session, "UPDATE t SET s = 'new' WHERE id = 42") == 1
    assert len(set(read)) == 1
    assert changed(session) == ("overwrite", 1, 1)
    read.clear()
    merge = "MERGE INTO t USING (VALUES (7), (8), (61)) AS v(k) ON t.id = v.k"
    assert (
        do(session, f"{merge} WHEN MATCHED THEN UPDATE SET s = 'merged' WHEN NOT MATCHED THEN INSERT (id) VALUES (k)")
        == 3
    )
    assert len(set(read)) == 2
    assert changed(session) == ("overwrite", 2, 2)
    read.clear()
    assert do(session, f"{merge} AND t.part = 6 WHEN MATCHED THEN DELETE") == 1
    assert len(set(read)) == 1
    read.clear()
    assert do(session, f"{merge} WHEN NOT MATCHED BY SOURCE AND t.part = 9 THEN DELETE") == 10
    assert len(set(read)) == 3  # those with a key, and that of the condition
    assert rows(session, "SELECT count(*) FROM t") == [(89,)]


def test_a_merge_in_which_null_meets_null(session: Session) -> None:
    do(session, "CREATE TABLE t (k INT, p INT) PARTITIONED BY (p)")
    do(session, "INSERT INTO t VALUES (1, 1), (NULL, 2), (3, 3)")
    source = "(VALUES (CAST(NULL AS INT)), (3)) AS v(k)"
    assert do(session, f"MERGE INTO t USING {source} ON t.k IS NOT DISTINCT FROM v.k WHEN MATCHED THEN DELETE") == 2
    assert do(session, f"MERGE INTO t USING {source} ON t.k = v.k WHEN MATCHED THEN DELETE") == 0
    assert rows(session, "SELECT k FROM t") == [(1,)]


@pytest.mark.parametrize("keys", [3, 500])
def test_a_merge_by_keys_of_any_kind(session: Session, read: list[str], keys: int) -> None:
    """Wider numbers, texts, dates, buckets; few keys are looked for one by one, many by where they lie."""
    do(
        session,
        "CREATE TABLE t (id INT, big BIGINT, s VARCHAR, d DATE) PARTITIONED BY (truncate(1000, id), bucket(2, s))",
    )
    do(
        session,
        "INSERT INTO t SELECT x, x, 'k' || x, DATE '2000-01-01' + CAST(x AS INT) FROM unnest(range(0, 10000)) AS u(x)",
    )
    do(session, "CREATE TABLE s AS SELECT 'a' || x AS v, * EXCLUDE (x) FROM (SELECT x, CAST(x AS BIGINT) AS id, "
                "CAST(x AS INT) AS big, 'k' || x AS s, DATE '2000-01-01' + CAST(x AS INT) AS d "
                f"FROM unnest(range(5000, {5000 + keys})) AS u(x)) AS y")  # fmt: skip
    for column in ("id", "big", "s", "d"):
        read.clear()
        sql = f"MERGE INTO t USING s ON t.{column} = s.{column} WHEN MATCHED THEN UPDATE SET s = s.s"
        assert do(session, sql) == keys, column
        assert len(set(read)) < 20, column
    assert rows(session, "SELECT count(*), count(DISTINCT s) FROM t") == [(10000, 10000)]


def test_a_merge_that_only_inserts_is_an_append(session: Session) -> None:
    ten_files(session)
    do(session, "MERGE INTO t USING (VALUES (500)) AS v(k) ON t.id = v.k WHEN NOT MATCHED THEN INSERT (id) VALUES (k)")
    assert changed(session) == ("append", 0, 1)


def test_truncate_reads_nothing(session: Session, read: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    ten_files(session)
    do(session, "TRUNCATE TABLE t")
    assert read == []
    assert changed(session) == ("delete", 10, 0)
    assert summary(session)["total-records"] == "0"


def test_null_and_nan_keep_a_file_from_going_whole(session: Session) -> None:
    do(session, "CREATE TABLE t (p INT, x DOUBLE, n INT) PARTITIONED BY (p)")
    do(session, "INSERT INTO t VALUES (1, 1.0, 5), (1, 'NaN', 6), (2, 1.0, 5), (2, NULL, NULL), (3, 'NaN', NULL)")
    assert do(session, "DELETE FROM t WHERE x < 5") == 2
    assert do(session, "DELETE FROM t WHERE n <> 7") == 1
    assert in_order(rows(session, "SELECT p, n FROM t")) == [(2, None), (3, None)]
    assert do(session, "DELETE FROM t WHERE x > 5") == 1
    assert do(session, "DELETE FROM t WHERE n IS NULL") == 1


def test_columns_that_came_later_and_partitions_that_changed(session: Session) -> None:
    ten_files(session)
    do(session, "ALTER TABLE t ADD COLUMN late INT")
    do(session, "ALTER TABLE t DROP PARTITION FIELD part")
    do(session, "INSERT INTO t SELECT 200 + x, x, 0, 'late', 7 FROM unnest(range(0, 5)) AS u(x)")
    assert do(session, "DELETE FROM t WHERE late IS NULL AND part = 2") == 10
    assert do(session, "DELETE FROM t WHERE part = 4") == 11
    assert do(session, "DELETE FROM t WHERE late = 7") == 4
    assert rows(session, "SELECT count(*), count(late) FROM t") == [(80, 0)]


_TEXTS = ["", "a", "a" * 20, "a" * 20 + "b", "é" * 30, "\U0010ffff" * 20, "zz", None]
_NUMBERS = ["0", "-0.0", "1.5", "-3", "CAST('NaN' AS DOUBLE)", "CAST('Infinity' AS DOUBLE)", "NULL"]


@pytest.mark.slow
def test_random_deletes_of_many_small_files(session: Session, tmp_path: Path) -> None:
    """Few values and many files, so that many go whole; DuckDB tells what should be left."""
    seed = seed_of("whole files")
    for number in range(how_many(10, 400)):
        dice = chance(seed, number)
        peer = duckdb.connect()
        shape = "(i INT, x DOUBLE, s VARCHAR, d DATE)"
        mode = dice.choice(("copy-on-write", "merge-on-read"))
        partitioned = dice.choice(
            ("", "PARTITIONED BY (i)", "PARTITIONED BY (truncate(3, s))", "PARTITIONED BY (month(d))")
        )
        do(session, f"CREATE OR REPLACE TABLE t {shape} {partitioned} WITH ('write.delete.mode' = '{mode}')")
        peer.execute(f"CREATE TABLE t {shape}")
        for _ in range(dice.randint(1, 6)):
            few = [_row(dice) for _ in range(dice.randint(1, 2))]
            values = ", ".join(dice.choice(few) for _ in range(dice.randint(1, 4)))
            for run in (lambda sql: do(session, sql), peer.execute):
                run(f"INSERT INTO t VALUES {values}")
        for _ in range(3):
            where = _condition(dice)
            count = do(session, f"DELETE FROM t WHERE {where}")
            assert count == peer.execute(f"DELETE FROM t WHERE {where}").fetchall()[0][0], (number, where)
            key = "SELECT i, CAST(x AS VARCHAR) AS x, s, d FROM t"
            assert in_order(rows(session, "SELECT i, s, d FROM t")) == in_order(
                peer.execute("SELECT i, s, d FROM t").fetchall()
            ), (number, where, key)


def _row(dice: Any) -> str:
    text = dice.choice(_TEXTS)
    shown = "NULL" if text is None else f"'{text}'"
    day = dice.choice(("NULL", "DATE '2024-01-31'", "DATE '2024-02-01'", "DATE '1969-12-31'"))
    return f"({dice.choice(('1', '2', '3', 'NULL'))}, {dice.choice(_NUMBERS)}, {shown}, {day})"


def _condition(dice: Any, depth: int = 2) -> str:
    if depth and dice.random() < 0.5:
        joined = dice.choice((" AND ", " OR ")).join(_condition(dice, depth - 1) for _ in range(2))
        return f"NOT ({joined})" if dice.random() < 0.3 else f"({joined})"
    operator = dice.choice(("=", "<>", "<", "<=", ">", ">="))
    text = dice.choice([t for t in _TEXTS if t is not None])
    match dice.randrange(6):
        case 0:
            return f"i {operator} {dice.randint(0, 4)}"
        case 1:
            return f"x {operator} {dice.choice(_NUMBERS[:4])}"
        case 2:
            return f"s {operator} '{text}'"
        case 3:
            return f"d {operator} DATE '{dice.choice(('2024-02-01', '2024-01-31', '1970-01-01'))}'"
        case 4:
            return f"{dice.choice('ixsd')} IS {dice.choice(('', 'NOT '))}NULL"
        case _:
            return f"i {dice.choice(('', 'NOT '))}IN ({dice.randint(0, 4)}, {dice.randint(0, 4)})"
