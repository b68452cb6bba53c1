"""NaN with its sign bit, as numpy computes it for 0/0: it is read as any other NaN, which is greater than all numbers.

DataFusion orders floats by their bits, so that such a value would be less than all numbers and equal to no other NaN.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.dataset as pds
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest

import pinakes
from pinakes.engine.session import Session
from tests.engine.support import an_engine, do, rows

BITS = {"float64": (np.uint64, 0xFFF8000000000001), "float32": (np.uint32, 0xFFC00001)}


def table(name: str) -> pa.Table:
    """Rows 1 and 3 are numbers, 2 is NaN with a sign, 4 without."""
    values = np.array([1, np.nan, 2, np.nan], name)
    whole, bits = BITS[name]
    values.view(whole)[1] = bits
    found = pa.table({"k": pa.array([1, 2, 3, 4]), "x": pa.array(values)})
    assert np.signbit(found["x"].to_numpy()[1])
    return found


def parquet(path: Path, given: pa.Table) -> None:
    pq.write_table(given, path)


def arrow(path: Path, given: pa.Table) -> None:
    feather.write_feather(given, path, compression="uncompressed")


def as_one_nan(session: Session, source: str) -> None:
    assert rows(session, f"SELECT k FROM {source} WHERE x > 5 ORDER BY k") == [(2,), (4,)]
    assert rows(session, f"SELECT k FROM {source} WHERE x < 5 ORDER BY k") == [(1,), (3,)]
    assert rows(session, f"SELECT k FROM {source} WHERE x = 'NaN' ORDER BY k") == [(2,), (4,)]
    assert rows(session, f"SELECT k FROM {source} ORDER BY x, k") == [(1,), (3,), (2,), (4,)]
    assert rows(session, f"SELECT min(x), count(DISTINCT x) FROM {source}") == [(1.0, 3)]
    assert rows(session, f"SELECT count(*) FROM {source} AS a JOIN {source} AS b ON a.x = b.x") == [(6,)]


def nested(name: str) -> pa.Table:
    """The same numbers in lists, structs, a map, and a list within a struct."""
    given = table(name)
    x, places = given["x"].combine_chunks(), pa.array([0, 1, 2, 3, 4], pa.int32())
    columns = {
        "k": given["k"],
        "l": pa.ListArray.from_arrays(places, x),
        "s": pa.StructArray.from_arrays([x, given["k"].combine_chunks()], ["x", "k"]),
        "m": pa.MapArray.from_arrays(places, pa.array(["a"] * 4), x),
        "d": pa.StructArray.from_arrays([pa.ListArray.from_arrays(places, x)], ["l"]),
    }
    return pa.table(columns)


def as_one_nan_within(session: Session, source: str) -> None:
    for value in ("l[1]", "s.x", "s['x']", "(s).x", "m['a']", "d.l[1]", "array_max(l)", "array_max(d.l)"):
        assert rows(session, f"SELECT k FROM {source} WHERE {value} > 5 ORDER BY k") == [(2,), (4,)], value
        assert rows(session, f"SELECT k FROM {source} ORDER BY {value}, k") == [(1,), (3,), (2,), (4,)], value
        assert rows(session, f"SELECT count(DISTINCT {value}) FROM {source}") == [(3,)], value
    for value in ("l", "d"):
        assert rows(session, f"SELECT count(*) FROM (SELECT DISTINCT {value} FROM {source})") == [(3,)]
        assert rows(session, f"SELECT {value}, count(*) FROM {source} GROUP BY {value} HAVING count(*) > 1")[0][1] == 2
        assert rows(session, f"SELECT count(*) FROM {source} AS a JOIN {source} AS b ON a.{value} = b.{value}") == [
            (6,)
        ]
    assert rows(session, f"SELECT count(*) FROM (SELECT DISTINCT d FROM (SELECT * FROM {source}))") == [(3,)]
    assert rows(session, f"SELECT k FROM (SELECT s.x AS y, k FROM {source}) WHERE y > 5 ORDER BY k") == [(2,), (4,)]
    assert rows(session, f"SELECT x, k FROM (SELECT unnest(l) AS x, k FROM {source}) WHERE x < 5 ORDER BY x") == [
        (1.0, 1), (2.0, 3),
    ]  # fmt: skip


@pytest.fixture
def session() -> Iterator[Session]:
    with an_engine() as engine:
        yield engine.session()


@pytest.mark.parametrize("name", BITS)
@pytest.mark.parametrize("write", [parquet, arrow])
def test_in_a_file(session: Session, tmp_path: Path, write: Callable[[Path, pa.Table], None], name: str) -> None:
    path = tmp_path / f"t.{write.__name__}"
    write(path, table(name))
    as_one_nan(session, f"'{path}'")


@pytest.mark.parametrize("name", BITS)
def test_in_a_table_that_is_made_of_it(session: Session, tmp_path: Path, name: str) -> None:
    pq.write_table(table(name), tmp_path / "t.parquet")
    do(session, f"CREATE TABLE t AS SELECT * FROM '{tmp_path}/t.parquet'")
    as_one_nan(session, "t")


@pytest.mark.parametrize("name", BITS)
def test_in_files_that_a_table_adopts(session: Session, tmp_path: Path, name: str) -> None:
    kind = {"float64": "DOUBLE", "float32": "REAL"}[name]
    pq.write_table(table(name), tmp_path / "t.parquet")
    do(session, f"CREATE TABLE t (k BIGINT, x {kind})")
    do(session, f"CALL lake.system.add_files('t', '{tmp_path}/t.parquet')")
    as_one_nan(session, "t")


@pytest.mark.parametrize("name", BITS)
@pytest.mark.parametrize(
    "given", [lambda t: t, pds.dataset, lambda t: t.to_reader()], ids=["table", "dataset", "reader"]
)
def test_in_data_of_python(given: Callable[[pa.Table], object], name: str) -> None:
    with pinakes.connect(data=":memory:") as connection:
        connection.register("t", given(table(name)))
        found = connection.sql("SELECT k FROM t WHERE x > 5 ORDER BY x, k").arrow()
    assert found["k"].to_pylist() == [2, 4]


@pytest.mark.parametrize("name", BITS)
@pytest.mark.parametrize("write", [parquet, arrow])
def test_within_values_of_a_file(
    session: Session, tmp_path: Path, write: Callable[[Path, pa.Table], None], name: str
) -> None:
    path = tmp_path / f"t.{write.__name__}"
    write(path, nested(name))
    as_one_nan_within(session, f"'{path}'")


def test_within_values_of_files_that_a_table_adopts(session: Session, tmp_path: Path) -> None:
    pq.write_table(nested("float64"), tmp_path / "t.parquet")
    do(
        session,
        "CREATE TABLE t (k BIGINT, l DOUBLE[], s STRUCT(x DOUBLE, k BIGINT), m MAP(VARCHAR, DOUBLE), "
        "d STRUCT(l DOUBLE[]))",
    )
    do(session, f"CALL lake.system.add_files('t', '{tmp_path}/t.parquet')")
    as_one_nan_within(session, "t")


@pytest.mark.parametrize(
    "given", [lambda t: t, pds.dataset, lambda t: t.to_reader()], ids=["table", "dataset", "reader"]
)
def test_within_values_of_python(given: Callable[[pa.Table], object]) -> None:
    with pinakes.connect(data=":memory:") as connection:
        connection.register("t", given(nested("float64")))
        found = connection.sql("SELECT k FROM t WHERE l[1] > 5 AND s.x > 5 AND m['a'] > 5 ORDER BY l, s.x, k").arrow()
    assert found["k"].to_pylist() == [2, 4]


def test_a_field_of_a_struct_is_read_alone(session: Session, tmp_path: Path) -> None:
    pq.write_table(nested("float64"), tmp_path / "t.parquet")
    plan = str(rows(session, f"EXPLAIN SELECT sum(s.k), max(s.x) FROM '{tmp_path}/t.parquet' WHERE s['x'] > 1"))
    assert "projection=[get_field(" in plan
    assert "usual_nan" not in plan


def test_as_a_parameter(session: Session) -> None:
    signed = float(table("float64")["x"].to_numpy()[1])
    assert rows(session, "SELECT $1 > 5, $1 = 'NaN', $1 < 5", [signed]) == [(True, True, False)]
    assert rows(session, "SELECT $1[1] > 5, $2[1] > 5", [[signed], pa.scalar([signed])]) == [(True, True)]
