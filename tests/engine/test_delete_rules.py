"""To which rows delete files of other engines apply: the rules of the format, one by one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pinakes.core.errors import DataCorrupt
from pinakes.core.names import Name
from pinakes.engine.iceberg.scan.tasks import Task, plan
from pinakes.engine.session import Session
from tests.engine import delete_files
from tests.engine.delete_files import delete_equal, delete_positions, delete_positions_of, delete_vectors
from tests.engine.support import an_engine, do, in_order, rows


@pytest.fixture
def session() -> Iterator[Session]:
    with an_engine() as engine:
        yield engine.session()


def table(session: Session) -> Any:
    """The table as it is now; what is remembered of it goes."""
    return session.resolver.table(Name.of("t"))[1]


def file_with(session: Session, text: str) -> Task:
    """The data file that a row is in which has a text: each INSERT makes one, or one for each partition."""
    return next(task for task in plan(table(session)) if text in texts_of(session, task))


def texts_of(session: Session, task: Task) -> list[str]:
    """The texts in a data file, deleted or not."""
    with table(session).handle.io.new_input(task.file.file_path).open() as stream:
        found: list[str] = pq.read_table(stream).column("s").to_pylist()
    return found


def in_one_file(session: Session, count: int) -> None:
    """The numbers from 0 in their order."""
    table(session).handle.append(pa.table({"a": pa.array(range(count), pa.int32()), "s": pa.array(["x"] * count)}))
    table(session)


def made(session: Session, version: int = 3, more: str = "") -> None:
    do(session, f"CREATE TABLE t (a INT, s VARCHAR) {more} TBLPROPERTIES ('format-version' = '{version}')")


def keys(name: str, field_id: int, values: list[object], kind: pa.DataType) -> pa.Table:
    field = pa.field(name, kind, metadata={"PARQUET:field_id": str(field_id)})
    return pa.table([pa.array(values, kind)], schema=pa.schema([field]))


def ints(*values: int | None, field_id: int = 1) -> pa.Table:
    return keys("a", field_id, list(values), pa.int32())


def texts(session: Session) -> Sequence[str]:
    table(session)
    return [s for (s,) in in_order(rows(session, "SELECT s FROM t"))]


# --- deletion vectors --------------------------------------------------------------------------------------------


def test_a_vector_deletes_rows_of_its_own_file_only(session: Session) -> None:
    made(session)
    do(session, "INSERT INTO t VALUES (1, 'a'), (2, 'b'), (3, 'c')")
    do(session, "INSERT INTO t VALUES (4, 'd'), (5, 'e')")
    do(session, "INSERT INTO t VALUES (6, 'f'), (7, 'g')")
    delete_vectors(table(session).handle, [(file_with(session, "a"), [0, 2]), (file_with(session, "f"), [1])])
    assert texts(session) == ["b", "d", "e", "f"]
    shown = str(rows(session, "EXPLAIN SELECT * FROM t"))
    assert "DatasetExec: number_of_fragments=2," in shown
    assert "DataSourceExec" in shown
    assert rows(session, "SELECT count(*) FROM t") == [(4,)]


def test_a_vector_stands_for_all_positions_before_it(session: Session) -> None:
    """It holds whatever files of positions said: one that still stands beside it is not read."""
    made(session, version=2)
    do(session, "INSERT INTO t VALUES (1, 'a'), (2, 'b'), (3, 'c'), (4, 'd')")
    delete_positions(table(session).handle, file_with(session, "a"), [0, 1])
    do(session, "ALTER TABLE t SET TBLPROPERTIES ('format-version' = '3')")
    assert texts(session) == ["c", "d"]
    delete_vectors(table(session).handle, [(file_with(session, "a"), [0, 3])])
    assert texts(session) == ["b", "c"]


def test_a_vector_takes_the_place_of_the_one_before(session: Session) -> None:
    made(session)
    do(session, "INSERT INTO t VALUES (1, 'a'), (2, 'b'), (3, 'c')")
    do(session, "INSERT INTO t VALUES (4, 'd')")
    first, other = file_with(session, "a"), file_with(session, "d")
    delete_vectors(table(session).handle, [(first, [0]), (other, [0])])
    assert texts(session) == ["b", "c"]
    delete_vectors(table(session).handle, [(first, [0, 1])])
    assert texts(session) == ["c"]


def test_a_vector_and_values_both_apply(session: Session) -> None:
    made(session)
    do(session, "INSERT INTO t VALUES (1, 'a'), (2, 'b'), (3, 'c'), (4, 'd')")
    file = file_with(session, "a")
    delete_vectors(table(session).handle, [(file, [0])])
    delete_equal(table(session).handle, file, ints(3), [1])
    assert texts(session) == ["b", "d"]


def test_a_vector_of_many_rows(session: Session) -> None:
    """Of every kind of container that a bitmap has: few, many, and runs of rows."""
    made(session)
    in_one_file(session, 300_000)
    gone = {*range(0, 60_000, 2), *range(70_000, 140_000), 200_000, 299_999}
    delete_vectors(table(session).handle, [(plan(table(session))[0], sorted(gone))])
    left = set(range(300_000)) - gone
    table(session)
    assert rows(session, "SELECT count(*), sum(a), min(a), max(a) FROM t") == [(len(left), sum(left), 1, 299_998)]


def test_a_damaged_vector_is_an_error(session: Session) -> None:
    made(session)
    do(session, "INSERT INTO t VALUES (1, 'a'), (2, 'b')")
    path = delete_vectors(table(session).handle, [(plan(table(session))[0], [0])])
    table(session)
    good = Path(path).read_bytes()
    for place in (4, 8, 20, 30):
        Path(path).write_bytes(good[:place] + bytes([good[place] ^ 1]) + good[place + 1 :])
        with pytest.raises(DataCorrupt, match=r"table default\.t: .*deletes\.puffin cannot be read"):
            rows(session, "SELECT * FROM t")
    Path(path).write_bytes(good)
    assert texts(session) == ["b"]


def test_two_vectors_of_one_file_are_an_error(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    made(session)
    do(session, "INSERT INTO t VALUES (1, 'a'), (2, 'b')")
    monkeypatch.setattr(delete_files._AddDeletes, "_without_replaced", lambda self, old: [old])
    for row in (0, 1):
        delete_vectors(table(session).handle, [(plan(table(session))[0], [row])])
        if row == 0:
            assert texts(session) == ["b"]
            first = plan(table(session))[0]
    with pytest.raises(DataCorrupt, match=f"{first.file.file_path} has two deletion vectors"):
        texts(session)


# --- positions ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("bounds", [True, False], ids=["bounds", "no bounds"])
def test_one_file_of_positions_for_several_data_files(session: Session, bounds: bool) -> None:
    made(session, version=2)
    for text in "abc":
        do(session, f"INSERT INTO t VALUES (1, '{text}1'), (2, '{text}2')")
    gone = [(file_with(session, "a1"), [0]), (file_with(session, "c1"), [1, 0])]
    delete_positions_of(table(session).handle, gone, bounds)
    assert texts(session) == ["a2", "b1", "b2"]


def test_positions_reach_no_file_of_another_partition_or_spec(session: Session) -> None:
    """Of several data files, those of the delete file's own partition are meant."""
    made(session, version=2, more="PARTITIONED BY (a)")
    do(session, "INSERT INTO t VALUES (1, 'p'), (2, 'q')")
    one, other = file_with(session, "p"), file_with(session, "q")
    delete_positions_of(table(session).handle, [(one, [0]), (other, [0])], bounds=False)
    assert texts(session) == ["q"]
    with table(session).handle.update_spec() as change:
        change.add_field("s", "identity", "by_s")
    table(session)
    do(session, "INSERT INTO t VALUES (1, 'p')")
    assert texts(session) == ["p", "q"]


def test_positions_do_not_reach_younger_data(session: Session) -> None:
    """A file that was added again, at the same place, is younger than the deletes that it had."""
    made(session, version=2)
    do(session, "INSERT INTO t VALUES (1, 'a'), (2, 'b')")
    old = file_with(session, "a")
    delete_positions(table(session).handle, old, [0])
    assert texts(session) == ["b"]
    handle = table(session).handle
    with handle.transaction() as transaction, transaction.update_snapshot().overwrite() as change:
        change.delete_data_file(old.file)
    with table(session).handle.transaction() as transaction, transaction.update_snapshot().fast_append() as append:
        append.append_data_file(old.file)
    assert texts(session) == ["a", "b"]


def test_positions_that_are_repeated_or_out_of_order(session: Session) -> None:
    made(session, version=2)
    do(session, "INSERT INTO t VALUES (1, 'a'), (2, 'b'), (3, 'c'), (4, 'd')")
    file = file_with(session, "a")
    delete_positions(table(session).handle, file, [3, 0, 3])
    delete_positions(table(session).handle, file, [0, 1])
    assert texts(session) == ["c"]


def test_a_file_of_no_positions(session: Session) -> None:
    made(session, version=2)
    do(session, "INSERT INTO t VALUES (1, 'a')")
    delete_positions(table(session).handle, file_with(session, "a"), [])
    assert texts(session) == ["a"]


def test_positions_within_several_batches(session: Session) -> None:
    made(session, version=2)
    in_one_file(session, 400_000)
    gone = [0, 131_071, 131_072, 262_143, 262_144, 399_999]
    delete_positions(table(session).handle, plan(table(session))[0], gone)
    table(session)
    assert rows(session, "SELECT count(*), sum(a) FROM t") == [(399_994, 400_000 * 399_999 // 2 - sum(gone))]
    assert rows(session, "SELECT count(*) FROM t") == [(399_994,)]
    assert rows(session, "SELECT a FROM t WHERE a IN (131071, 131073)") == [(131_073,)]


# --- values ------------------------------------------------------------------------------------------------------


def test_values_reach_strictly_older_data_only(session: Session) -> None:
    """Rows that come with a delete of the same key stay: so an upsert is written."""
    made(session, version=2)
    do(session, "INSERT INTO t VALUES (1, 'old')")
    file = file_with(session, "old")
    handle = table(session).handle
    delete_equal(handle, file, ints(1), [1])
    do(session, "INSERT INTO t VALUES (1, 'new')")
    assert texts(session) == ["new"]
    delete_equal(table(session).handle, file, ints(1), [1])
    assert texts(session) == []


def test_values_of_an_unpartitioned_spec_reach_all_partitions(session: Session) -> None:
    made(session, version=2)
    do(session, "INSERT INTO t VALUES (1, 'a'), (2, 'b')")
    with table(session).handle.update_spec() as change:
        change.add_field("a", "identity", "by_a")
    table(session)
    do(session, "INSERT INTO t VALUES (1, 'c'), (3, 'd')")
    delete_equal(table(session).handle, None, ints(1, 3), [1])
    assert texts(session) == ["b"]
    do(session, "INSERT INTO t VALUES (1, 'e')")
    assert texts(session) == ["b", "e"]


def test_values_of_a_partition_do_not_reach_one_of_another_spec(session: Session) -> None:
    made(session, version=2, more="PARTITIONED BY (a)")
    do(session, "INSERT INTO t VALUES (1, 'x'), (2, 'x')")
    with table(session).handle.update_spec() as change:
        change.add_field("s", "identity", "by_s")
    table(session)
    old = next(task for task in plan(table(session)) if task.file.partition[0] == 1)
    do(session, "INSERT INTO t VALUES (1, 'x')")
    delete_equal(table(session).handle, old, keys("s", 2, ["x"], pa.string()), [2])
    table(session)
    assert in_order(rows(session, "SELECT a, s FROM t")) == [(1, "x"), (2, "x")]


def test_null_is_a_key_and_part_of_one(session: Session) -> None:
    made(session, version=2)
    do(session, "INSERT INTO t VALUES (NULL, 'a'), (1, NULL), (NULL, NULL), (1, 'd')")
    fields = [pa.field(n, k, metadata={"PARQUET:field_id": i}) for n, k, i in _COLUMNS]
    both = pa.table([pa.array([None, 1], pa.int32()), pa.array([None, "d"])], schema=pa.schema(fields))
    delete_equal(table(session).handle, plan(table(session))[0], both, [1, 2])
    table(session)
    assert in_order(rows(session, "SELECT a, s FROM t")) == [(None, "a"), (1, None)]


_COLUMNS = (("a", pa.int32(), "1"), ("s", pa.string(), "2"))


def test_a_key_was_narrower_when_it_was_deleted(session: Session) -> None:
    made(session, version=2)
    do(session, "INSERT INTO t VALUES (1, 'a'), (2, 'b')")
    delete_equal(table(session).handle, file_with(session, "a"), ints(1), [1])
    table(session)
    do(session, "ALTER TABLE t ALTER COLUMN a TYPE BIGINT")
    assert texts(session) == ["b"]


def test_a_key_that_data_files_do_not_have_yet(session: Session) -> None:
    made(session, version=2)
    do(session, "INSERT INTO t VALUES (1, 'a')")
    do(session, "ALTER TABLE t ADD COLUMN k INT")
    do(session, "INSERT INTO t VALUES (2, 'b', 7), (3, 'c', NULL), (4, 'd', 8)")
    for file in plan(table(session)):
        delete_equal(table(session).handle, file, keys("k", 3, [None, 7], pa.int32()), [3])
    assert texts(session) == ["d"]


def test_a_key_within_a_struct(session: Session) -> None:
    do(session, "CREATE TABLE t (a INT, s VARCHAR, p STRUCT<x INT, y VARCHAR>)")
    do(session, "INSERT INTO t SELECT 1, 'a', named_struct('x', 1, 'y', 'u')")
    do(session, "INSERT INTO t SELECT 2, 'b', named_struct('x', 2, 'y', 'v')")
    do(session, "INSERT INTO t SELECT 3, 'c', NULL")
    x = table(session).handle.schema().find_field("p.x").field_id
    p = table(session).handle.schema().find_field("p").field_id
    inner = pa.field("x", pa.int32(), metadata={"PARQUET:field_id": str(x)})
    outer = pa.field("p", pa.struct([inner]), metadata={"PARQUET:field_id": str(p)})
    gone = pa.table([pa.array([{"x": 2}, None], outer.type)], schema=pa.schema([outer]))
    delete_equal(table(session).handle, plan(table(session))[0], gone, [x])
    assert texts(session) == ["a"]
    assert rows(session, "SELECT a, p['y'] FROM t") == [(1, "u")]


def test_zero_has_two_forms(session: Session) -> None:
    do(session, "CREATE TABLE t (a DOUBLE, s VARCHAR)")
    do(session, "INSERT INTO t VALUES (0.0, 'plus'), (CAST('-0.0' AS DOUBLE), 'minus'), (1, 'one')")
    delete_equal(table(session).handle, plan(table(session))[0], keys("a", 1, [-0.0], pa.float64()), [1])
    assert texts(session) == ["one", "plus"]


@pytest.mark.parametrize(
    ("values", "nulls", "dirty"),
    [((5, 6), 0, ["mid"]), ((100, 200), 0, []), ((9, 25), 0, ["high", "mid"]), ((100, None), 1, ["nulls"])],
)
def test_values_outside_the_bounds_of_a_file_leave_it_clean(
    session: Session, values: tuple[int | None, ...], nulls: int, dirty: list[str]
) -> None:
    made(session, version=2)
    do(session, "INSERT INTO t VALUES (0, 'low'), (1, 'low')")
    do(session, "INSERT INTO t VALUES (5, 'mid'), (9, 'mid')")
    do(session, "INSERT INTO t VALUES (20, 'high'), (30, 'high')")
    do(session, "INSERT INTO t VALUES (50, 'nulls'), (NULL, 'nulls')")
    known = [v for v in values if v is not None]
    least, greatest = ({1: n.to_bytes(4, "little")} for n in (min(known), max(known)))
    file = plan(table(session))[0]
    delete_equal(table(session).handle, file, ints(*values), [1], least=least, greatest=greatest, nulls={1: nulls})
    found = [t for t in plan(table(session)) if not t.is_clean]
    assert sorted(texts_of(session, task)[0] for task in found) == dirty
    a_null = None in values
    left = rows(session, "SELECT count(*) FROM t")[0][0]
    gone = sum(v in (0, 1, 5, 9, 20, 30, 50) for v in known) + a_null
    assert left == 8 - gone


# --- older snapshots ---------------------------------------------------------------------------------------------


def test_deletes_are_those_of_the_snapshot_that_is_read(session: Session) -> None:
    made(session)
    do(session, "INSERT INTO t VALUES (1, 'a'), (2, 'b'), (3, 'c'), (4, 'd')")
    file = file_with(session, "a")
    steps = [["a", "b", "c", "d"]]
    delete_equal(table(session).handle, file, ints(1), [1])
    steps.append(list(texts(session)))
    for places in ([1], [1, 2]):
        delete_vectors(table(session).handle, [(file, places)])
        steps.append(list(texts(session)))
    assert steps[1:] == [["b", "c", "d"], ["c", "d"], ["d"]]
    history = [s.snapshot_id for s in table(session).handle.metadata.snapshots]
    for snapshot, expected in zip(history, steps, strict=True):
        found = rows(session, f"SELECT s FROM t FOR VERSION AS OF {snapshot}")
        assert [s for (s,) in in_order(found)] == expected


# --- changes -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("few", [True, False], ids=["one file", "all files"])
def test_changes_bring_nothing_back_and_lose_nothing(session: Session, few: bool) -> None:
    """Of a table with a vector, positions and values that other engines wrote."""
    made(session, version=2)
    for first in (0, 10, 20, 30):
        do(session, f"INSERT INTO t SELECT value, 'v' || value FROM range({first}, {first + 10})")
    delete_positions(table(session).handle, file_with(session, "v1"), _places(session, "v1", "v2"))
    delete_equal(table(session).handle, None, ints(13, 23, 33), [1])
    do(session, "ALTER TABLE t SET TBLPROPERTIES ('format-version' = '3')")
    delete_vectors(table(session).handle, [(file_with(session, "v20"), _places(session, "v20", "v21"))])
    table(session)
    left = set(range(40)) - {1, 2, 13, 20, 21, 23, 33}
    assert {a for (a,) in rows(session, "SELECT a FROM t WHERE a >= 0")} == left
    where = "a BETWEEN 20 AND 29" if few else "a % 2 = 0"
    doomed = {a for a in left if (20 <= a <= 29 if few else a % 2 == 0) and a > 5}
    assert do(session, f"DELETE FROM t WHERE {where} AND a > 5") == len(doomed)
    left -= doomed
    assert do(session, "UPDATE t SET s = s || '!' WHERE a < 15") == len([a for a in left if a < 15])
    merge = "MERGE INTO t USING (VALUES (13, 'x'), (30, 'y')) AS n(a, s) ON t.a = n.a"
    do(session, f"{merge} WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN INSERT (a, s) VALUES (n.a, n.s)")
    left = (left - {30}) | {13} | (set() if 30 in left else {30})
    found: dict[int, str] = dict(rows(session, "SELECT a, s FROM t"))
    assert set(found) == left
    assert found[13] == "x"
    assert found[3] == "v3!"
    table(session)
    assert rows(session, "SELECT count(*), count(DISTINCT a) FROM t") == [(len(left), len(left))]


def _places(session: Session, *gone: str) -> list[int]:
    """Where some rows of one file stand in it."""
    found = texts_of(session, file_with(session, gone[0]))
    return [found.index(text) for text in gone]
