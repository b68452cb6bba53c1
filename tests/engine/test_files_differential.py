"""Random files read by Pinakes and by DuckDB: where both read a value, it is the same one."""

from __future__ import annotations

import csv
import json
import math
import random
from collections.abc import Callable, Iterator
from datetime import date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import pinakes
from tests.engine.support import how_many

SEEDS = range(how_many(6, 60))
Make = Callable[[random.Random], Any]


@pytest.fixture(scope="module")
def con() -> Iterator[pinakes.Connection]:
    with pinakes.connect(data=":memory:") as connection:
        yield connection


def ours(con: pinakes.Connection, sql: str) -> list[tuple[Any, ...]]:
    table = con.sql(sql).arrow()
    return [tuple(plain(v) for v in row.values()) for row in table.to_pylist()]


def theirs(sql: str, rows: Path | None = None) -> list[tuple[Any, ...]]:
    """What DuckDB answers. With `rows` the file is put into a table first: DuckDB, too, skips row groups by statistics
    that know nothing of NaN."""
    with duckdb.connect() as connection:
        if rows is not None:
            connection.execute(f"CREATE TABLE held AS SELECT * FROM '{rows}'")
            sql = sql.replace(f"'{rows}'", "held")
        return [tuple(plain(v) for v in row) for row in connection.execute(sql).fetchall()]


def plain(value: Any) -> Any:
    """A value that compares: NaN with itself, a number with a number."""
    if isinstance(value, float) and math.isnan(value):
        return "NaN"
    if isinstance(value, list):
        return [plain(v) for v in value]
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    return float(value) if isinstance(value, Decimal | int) and not isinstance(value, bool) else value


# --- Parquet -----------------------------------------------------------------------------------------------------

DAY = date(2024, 2, 28)
COLUMNS: dict[str, tuple[pa.DataType, Make]] = {
    "i8": (pa.int8(), lambda r: r.randint(-128, 127)),
    "i64": (pa.int64(), lambda r: r.choice([0, -1, 2**53, -(2**63), r.randint(-9, 9)])),
    "u32": (pa.uint32(), lambda r: r.choice([0, 2**32 - 1, r.randint(0, 9)])),
    "f64": (pa.float64(), lambda r: r.choice([0.0, -0.0, math.nan, math.inf, -1.5, r.random()])),
    "f32": (pa.float32(), lambda r: r.choice([math.nan, 0.5, -2.25, float(r.randint(-9, 9))])),
    "s": (pa.string(), lambda r: r.choice(["", "a", "Zürich", "long " * 40, "\U0001f600", "x" * r.randint(0, 9)])),
    "b": (pa.bool_(), lambda r: r.random() < 0.5),
    "d": (pa.date32(), lambda r: DAY + timedelta(days=r.randint(-400, 400))),
    "ts": (pa.timestamp("us"), lambda r: datetime(2024, 2, 29, 23, 59, 59, r.randint(0, 999_999))),
    "dec": (pa.decimal128(12, 3), lambda r: Decimal(r.randint(-(10**9), 10**9)).scaleb(-3)),
    "dict": (pa.dictionary(pa.int32(), pa.string()), lambda r: r.choice("abc")),
    "list": (pa.list_(pa.int64()), lambda r: [r.randint(0, 3) for _ in range(r.randint(0, 3))]),
    "st": (pa.struct([("x", pa.int32()), ("Y", pa.string())]), lambda r: {"x": r.randint(0, 9), "Y": "y"}),
}
CONDITIONS = (
    "i8 > 100", "i64 >= 9007199254740992", "u32 < 5", "f64 > 0.5", "f64 <> 0", "f32 < 0.5 OR f32 IS NULL", "s = ''",
    "s > 'a'", "s LIKE 'long%'", "b", "NOT b", "d >= DATE '2024-02-28'", "ts > TIMESTAMP '2024-02-29 23:59:59.5'",
    "dec < -0.5", "dict IN ('a', 'c')", "i8 NOT IN (1, 2, 3)", "i8 IS NULL AND s IS NOT NULL",
)  # fmt: skip


def parquet_table(r: random.Random, rows: int) -> pa.Table:
    def values(make: Make) -> list[Any]:
        return [None if r.random() < 0.15 else make(r) for _ in range(rows)]

    columns = {name: pa.array(values(make), kind) for name, (kind, make) in COLUMNS.items()}
    return pa.table({"id": pa.array(range(rows), pa.int64()), **columns})


@pytest.mark.parametrize("seed", SEEDS)
def test_parquet(con: pinakes.Connection, tmp_path: Path, seed: int) -> None:
    r = random.Random(seed)
    path = tmp_path / "rows.parquet"
    table = parquet_table(r, r.choice([1, 50, 3000]))
    pq.write_table(
        table,
        path,
        row_group_size=r.choice([7, 500]),
        compression=r.choice(["snappy", "zstd", "none"]),
        version=r.choice(["1.0", "2.6"]) if seed % 3 else "2.6",
        data_page_version=r.choice(["1.0", "2.0"]),
        write_page_index=r.random() < 0.5,
        use_dictionary=r.random() < 0.5,
    )
    query = f"SELECT * FROM '{path}' ORDER BY id"
    assert ours(con, query) == theirs(query)
    for condition in CONDITIONS:
        query = f"SELECT id FROM '{path}' WHERE {condition} ORDER BY id"
        assert ours(con, query) == theirs(query, path), condition
    for name in ("i8", "i64", "u32", "f64", "f32", "s", "d", "ts", "dec"):
        query = f"SELECT min({name}), max({name}), count({name}), count(*) FROM '{path}'"
        assert ours(con, query) == theirs(query, path), name


MEETING = (
    ("i % 90", "TINYINT", "BIGINT"),
    ("i % 90", "UINTEGER", "BIGINT"),
    ("i % 90", "FLOAT", "DOUBLE"),
    ("i % 90", "DECIMAL(6,2)", "DECIMAL(14,4)"),
    ("DATE '2024-01-01' + CAST(i AS INTEGER)", "DATE", "TIMESTAMP"),
    ("i % 90", "INTEGER", "DOUBLE"),
)


@pytest.mark.parametrize("seed", range(4))
def test_parquet_of_duckdb_with_other_types_in_each_file(con: pinakes.Connection, tmp_path: Path, seed: int) -> None:
    r = random.Random(seed)
    for at in range(2):
        columns = ", ".join(f"CAST({made} AS {kinds[at]}) AS c{n}" for n, (made, *kinds) in enumerate(MEETING))
        order = f"SELECT i + {at * 1000} AS id, {columns} FROM range({r.randint(1, 900)}) t(i)"
        duckdb.execute(f"COPY ({order}) TO '{tmp_path / f'{at}.parquet'}' (FORMAT parquet, ROW_GROUP_SIZE 2048)")
    for condition in ("true", "c0 > 5", "c1 = 7", "c2 < 3.5", "c3 >= 89", "c4 > '2024-02-01'", "c5 IN (1, 2)"):
        query = "SELECT id, c0, c1, c2, c3, c4, c5 FROM {} WHERE " + condition + " ORDER BY id"
        mine = ours(con, query.format(f"'{tmp_path}/*.parquet'"))
        assert mine == theirs(query.format(f"read_parquet('{tmp_path}/*.parquet', union_by_name => true)")), condition


# --- CSV ---------------------------------------------------------------------------------------------------------

CSV_COLUMNS: tuple[Make, ...] = (
    lambda r: str(r.randint(-(2**63), 2**63 - 1)),
    lambda r: repr(r.uniform(-1e6, 1e6)),
    lambda r: r.choice(["true", "false", "TRUE", "False"]),
    lambda r: (DAY + timedelta(days=r.randint(-4000, 4000))).isoformat(),
    lambda r: datetime(2024, 2, 29, 23, 59, 59, r.randint(1, 999_999)).isoformat(" "),
    lambda r: r.choice(["a", 'say "no"', "x, y; z", "Zürich\nBern", " lead", "0x10", "1.2.3", "-", "12:00"]),
    lambda r: r.choice(["007", "+5", "1"]),
)


@pytest.mark.parametrize("seed", range(how_many(20, 300)))
def test_csv(con: pinakes.Connection, tmp_path: Path, seed: int) -> None:
    r = random.Random(seed)
    path = tmp_path / "rows.csv"
    delim = r.choice(",;|\t")
    makers = [r.choice(CSV_COLUMNS) for _ in range(r.randint(2, 6))]
    with path.open("w", newline="", encoding="utf-8") as out:
        writer = csv.writer(out, delimiter=delim, lineterminator=r.choice(["\n", "\r\n"]))
        writer.writerow(["id", *(f"Col {i}" for i in range(len(makers)))])
        for i in range(r.choice([1, 30, 2000])):
            writer.writerow([i, *("" if r.random() < 0.2 else make(r) for make in makers)])
    options = f"delim => '{delim}', header => true, quote => '\"'"
    query = f"SELECT * FROM read_csv('{path}', {options}) ORDER BY id"
    assert ours(con, query) == theirs(query)
    found_out = f"SELECT * FROM '{path}' ORDER BY id"
    assert ours(con, found_out) == ours(con, query)


# --- JSON --------------------------------------------------------------------------------------------------------

JSON_COLUMNS: tuple[Make, ...] = (
    lambda r: r.randint(-(2**63), 2**63 - 1),
    lambda r: r.uniform(-1e6, 1e6),
    lambda r: r.choice([1, 2.5]),
    lambda r: r.random() < 0.5,
    lambda r: r.choice(["a", 'say "no"', "Zürich\n", "\U0001f600", "", "1"]),
    lambda r: DAY.isoformat(),
    lambda r: [r.choice([None, r.randint(0, 9)]) for _ in range(r.randint(1, 3))],
    lambda r: {"x": r.randint(0, 9), "Y": [{"z": "q"}]},
)


@pytest.mark.parametrize("seed", range(how_many(15, 300)))
def test_json(con: pinakes.Connection, tmp_path: Path, seed: int) -> None:
    r = random.Random(seed)
    path = tmp_path / "rows.json"
    makers = [r.choice(JSON_COLUMNS) for _ in range(r.randint(1, 5))]
    rows = [{"id": i, **{f"c{n}": make(r) for n, make in enumerate(makers)}} for i in range(r.choice([1, 30, 2000]))]
    for row in rows[1:]:
        for name in [n for n in row if n != "id" and r.random() < 0.2]:
            if r.random() < 0.5:
                del row[name]
            else:
                row[name] = None
    ascii = r.random() < 0.5
    if r.random() < 0.5:
        path.write_text(json.dumps(rows, ensure_ascii=ascii, indent=r.choice([None, 2])), encoding="utf-8")
    else:
        path.write_text("".join(json.dumps(row, ensure_ascii=ascii) + "\n" for row in rows), encoding="utf-8")
    query = f"SELECT * FROM '{path}' ORDER BY id"
    assert ours(con, query) == theirs(query)
