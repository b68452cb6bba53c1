"""SUMMARIZE against DuckDB: what is exact must be equal, what is estimated must be near."""

from __future__ import annotations

import datetime as dt
import math
import random
from collections.abc import Iterator
from decimal import Context, Decimal
from typing import Any

import duckdb
import pyarrow as pa
import pytest

import pinakes
from pinakes.core.errors import QueryCanceled
from tests.engine.support import an_engine, chance, do, in_thread, info_of, seed_of, wait_until

ROWS = 20_000
EXACT = ("column_name", "min", "max", "count", "null_percentage")


@pytest.fixture
def con() -> Iterator[pinakes.Connection]:
    with pinakes.connect(data=":memory:") as connection:
        yield connection


def table(dice: random.Random) -> pa.Table:
    """Columns of many types, each with NULLs, some skewed, one constant."""
    start = dt.datetime(2024, 1, 1)

    def some(make: Any) -> list[Any]:
        return [None if dice.random() < 0.1 else make() for _ in range(ROWS)]

    return pa.table(
        {
            "tiny": pa.array(some(lambda: dice.randint(-100, 100)), pa.int8()),
            "whole": pa.array(some(lambda: dice.randint(-(2**31), 2**31 - 1)), pa.int32()),
            "large": pa.array(some(lambda: dice.randint(2**62, 2**63 - 1)), pa.int64()),
            "unsigned": pa.array(some(lambda: dice.randint(0, 2**64 - 1)), pa.uint64()),
            "real": pa.array(some(lambda: dice.gauss(0, 1)), pa.float32()),
            "double": pa.array(some(lambda: dice.expovariate(0.001)), pa.float64()),
            "money": pa.array(some(lambda: Decimal(dice.randint(-(10**9), 10**9)).scaleb(-2)), pa.decimal128(12, 2)),
            "wide": pa.array(some(lambda: Decimal(dice.randint(0, 10**30))), pa.decimal128(38, 0)),
            "same": pa.array([7] * ROWS, pa.int64()),
            "yes": pa.array(some(lambda: dice.random() < 0.5)),
            "text": pa.array(some(lambda: f"x{dice.randint(0, 500)}")),
            "encoded": pa.array(some(lambda: f"x{dice.randint(0, 9)}")).dictionary_encode(),
            "day": pa.array(some(lambda: start.date() + dt.timedelta(dice.randint(0, 5000)))),
            "at": pa.array(some(lambda: start + dt.timedelta(seconds=dice.random() * 1e8)), pa.timestamp("us")),
        }
    )


def answers(cursor: Any, columns: list[str]) -> dict[str, dict[str, Any]]:
    return {row[0]: dict(zip(columns, row, strict=True)) for row in cursor.fetchall()}


def number(text: str) -> float:
    """A number, or a time as seconds."""
    try:
        return float(text)
    except ValueError:
        return dt.datetime.fromisoformat(text).timestamp()


def test_against_duckdb(con: pinakes.Connection) -> None:
    data = table(chance(seed_of("summarize"), "duckdb"))
    con.register("data", data)
    with duckdb.connect() as other:
        other.register("data", data)
        theirs = other.execute("SUMMARIZE data")
        columns = [described[0] for described in theirs.description]
        expected = answers(theirs, columns)
        ranks = ", ".join(f'quantile_disc("{name}", [0.25, 0.5, 0.75])' for name in data.column_names)
        exact = dict(zip(data.column_names, other.execute(f"SELECT {ranks} FROM data").fetchall()[0], strict=True))
    relation = con.sql("SUMMARIZE data")
    assert relation.columns == columns
    found = answers(relation, relation.columns)
    assert list(found) == list(expected)
    for name, ours in found.items():
        compare(name, ours, expected[name], exact[name], data.column(name))


def compare(name: str, ours: dict[str, Any], theirs: dict[str, Any], exact: Any, column: pa.ChunkedArray) -> None:
    for what in EXACT:
        mine, other = ours[what], theirs[what]
        if what in ("min", "max") and name in ("real", "double", "at"):
            mine, other = number(mine), number(other)
            assert math.isclose(mine, other, rel_tol=1e-6 if name == "real" else 1e-15), (name, what, mine, other)
        elif what == "null_percentage":
            assert abs(mine - other) <= Decimal("0.01"), (name, what)  # DuckDB rounds a DOUBLE
        else:
            assert mine == other, (name, what)
    distinct = len(set(column.drop_null().to_pylist()))
    assert abs(ours["approx_unique"] - distinct) <= max(1, 0.05 * distinct), (name, distinct, ours)
    for what in ("avg", "std"):
        assert (ours[what] is None) == (theirs[what] is None), (name, what)
        if ours[what] is not None:
            assert math.isclose(number(ours[what]), number(theirs[what]), rel_tol=1e-6), (name, what)
    if ours["q25"] is None:
        assert theirs["q25"] is None
        return
    spread = number(ours["max"]) - number(ours["min"])
    for what, true in zip(("q25", "q50", "q75"), exact, strict=True):
        assert abs(number(ours[what]) - number(str(true))) <= 0.02 * spread, (name, what, ours[what], true)


def test_averages_of_whole_numbers_are_exact(con: pinakes.Connection) -> None:
    dice = chance(seed_of("summarize"), "averages")
    values = [dice.randint(-(2**63), 2**63 - 1) for _ in range(10_001)]
    decimals = [Decimal(dice.randint(-(10**38) + 1, 10**38 - 1)) for _ in range(1000)]
    con.register("whole", pa.table({"v": pa.array(values, pa.int64())}))
    con.register("wide", pa.table({"v": pa.array(decimals, pa.decimal128(38, 0))}))
    (whole,), (wide,) = con.sql("SUMMARIZE whole").fetchall(), con.sql("SUMMARIZE wide").fetchall()
    assert whole[5] == repr(sum(values) / len(values))
    assert Decimal(wide[5]) == Decimal(sum(int(d) for d in decimals)).scaleb(-3, Context(prec=50))


def test_odd_types(con: pinakes.Connection) -> None:
    columns = {
        "half": pa.array([1.5, None, 2.5], pa.float16()),
        "encoded": pa.array([1.5, None, 2.5]).dictionary_encode(),
        "numbers": pa.array([1, None, 3]).dictionary_encode(),
        "small": pa.array([Decimal("1.5"), None, Decimal("2.5")], pa.decimal32(3, 1)),
        "huge": pa.array([Decimal(10) ** 69, None, Decimal(10) ** 69], pa.decimal256(76, 0)),
        "days": pa.array([0, None, 86_400_000], pa.date64()),
        "seconds": pa.array([0, None, 3], pa.timestamp("s", "Asia/Tokyo")),
        "clock": pa.array([0, None, 7200], pa.time32("s")),
        "span": pa.array([0, None, 2_000_000], pa.duration("us")),
        "view": pa.array(["a", None, "b"], pa.string_view()),
        "fixed": pa.array([b"aa", None, b"bb"], pa.binary(2)),
        "far": pa.array([-(2**62), None, 2**62], pa.timestamp("us")),
    }
    con.register("t", pa.table(columns))
    found = {row[0]: row[1:9] for row in con.sql("SUMMARIZE t").fetchall()}
    assert found["half"] == ("real", "1.5", "2.5", 2, "2.0", "0.7071067811865476", "1.5", "2.0")
    assert found["encoded"] == ("double", "1.5", "2.5", 2, "2.0", "0.7071067811865476", "1.5", "2.0")
    assert found["numbers"] == ("bigint", "1", "3", 2, "2.0", "1.4142135623730951", "1", "2")
    assert found["small"] == ("decimal(3,1)", "1.5", "2.5", 2, "2", "0.7071067811865476", "1.5", "2.0")
    assert found["huge"][:4] == ("decimal(76,0)", "1" + "0" * 69, "1" + "0" * 69, 1)
    assert found["days"][:5] == ("date", "1970-01-01", "1970-01-02", 2, "1970-01-01T12:00:00")
    assert found["seconds"][1:3] == ("1970-01-01T09:00:00+09:00", "1970-01-01T09:00:03+09:00")
    assert found["clock"] == ("time(0)", "00:00:00", "02:00:00", 2, "01:00:00", None, "00:00:00", "01:00:00")
    assert found["span"] == ("interval day to second", "PT0S", "PT2S", 2, "PT1S", None, "PT0S", "PT1S")
    assert found["view"][:4] == ("varchar", "a", "b", 2)
    assert found["fixed"][:4] == ("binary(2)", "6161", "6262", 2)
    assert found["far"][1:5] == (f"{-(2**62)}/1000000s", f"{2**62}/1000000s", 2, "1970-01-01T00:00:00")


def test_the_data_is_read_once(con: pinakes.Connection) -> None:
    con.register("stream", pa.table({"a": [1, 2, 3]}).to_reader())
    assert con.sql("SUMMARIZE stream").fetchall()[0][2:5] == ("1", "3", 3)


def test_many_columns(con: pinakes.Connection) -> None:
    con.register("wide", pa.table({f"c {i}": [i, i + 1] for i in range(500)}))
    found = con.sql("SUMMARIZE wide").fetchall()
    assert [(row[0], row[2], row[3]) for row in found] == [(f"c {i}", str(i), str(i + 1)) for i in range(500)]


def test_parameters_and_the_view_of_it(con: pinakes.Connection) -> None:
    relation = con.sql("SUMMARIZE SELECT value AS v FROM range(10) WHERE value < ?", [3])
    assert "(1 row)" in repr(relation)
    assert relation.fetchall()[0][2:4] == ("0", "2")


def test_it_can_be_stopped() -> None:
    with an_engine() as engine:
        session = engine.session()
        joined = in_thread(lambda: do(session, "SUMMARIZE SELECT value FROM range(1000000000000)"))
        wait_until(
            lambda: any(q.state == "RUNNING" for q in engine.tracker.snapshot() if "SUMMARIZE" in q.shown), "it runs"
        )
        session.cancel()
        with pytest.raises(QueryCanceled):
            joined()
        assert info_of(engine, "SUMMARIZE").state == "CANCELED"
