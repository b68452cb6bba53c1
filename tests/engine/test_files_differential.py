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


# --- several files, late values, nested objects ------------------------------------------------------------------


@pytest.mark.parametrize("format", ["csv", "parquet", "json"])
def test_partitions_whose_files_differ(con: pinakes.Connection, tmp_path: Path, format: str) -> None:
    parts: dict[str, tuple[str, list[Any]]] = {
        "dt=2024-01-01/k=a%20b": ("id,v", [(1, 10), (2, None)]),
        "dt=2024-01-02/k=c": ("v,id", [(2.5, 3)]),
        "dt=__HIVE_DEFAULT_PARTITION__/k=c": ("id,w", [(4, "x"), (5, None)]),
    }
    with duckdb.connect() as peer:
        for place, (names, values) in parts.items():
            (tmp_path / place).mkdir(parents=True)
            rows = ", ".join(f"({', '.join('NULL' if v is None else repr(v) for v in row)})" for row in values)
            peer.execute(f"COPY (SELECT * FROM (VALUES {rows}) AS t({names})) TO '{tmp_path}/{place}/f.{format}'")
    read = f"read_{format}('{tmp_path}/**/*.{format}', union_by_name => true, hive_partitioning => true"
    for sql in (
        f"SELECT id, v, w, dt, k FROM {read}) ORDER BY id",
        f"SELECT id, filename FROM {read}, filename => true) WHERE k = 'c' ORDER BY id",
        f"SELECT k, count(*), sum(v) FROM {read}) WHERE dt >= DATE '2024-01-01' GROUP BY k ORDER BY k",
    ):
        assert ours(con, sql) == theirs(sql), sql


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.filterwarnings("ignore:column ")
def test_late_values_of_csv(con: pinakes.Connection, tmp_path: Path, seed: int) -> None:
    r = random.Random(seed)
    starts = {"i": "7", "d": "2024-01-31", "f": "0.5", "t": "2024-01-31 10:00:00"}
    late = ["1.5", "n/a", "99999999999999999999", "2024-02-29", "2024-02-29 12:30:00", ""]
    path = tmp_path / "late.csv"
    lines = [list(starts.values()) for _ in range(30_000)]
    for _ in range(3):
        lines[r.randrange(25_000, 30_000)][r.randrange(4)] = r.choice(late)
    numbered = [["id", *starts], *([str(n), *line] for n, line in enumerate(lines))]
    path.write_text("\n".join(map(",".join, numbered)) + "\n")
    texts = ", ".join(f"CAST({name} AS VARCHAR) AS {name}" for name in starts)
    found = con.sql(f"SELECT * FROM '{path}' ORDER BY id").arrow()
    for at, name in enumerate(starts):
        given = [line[at] for line in lines]
        kind = found.schema.field(name).type
        if kind == pa.string():
            assert found[name].to_pylist() == [value or None for value in given], name
    peer = "all_varchar = true, header = true"
    same = f"SELECT count(*), count(i), count(d), count(f), count(t) FROM (SELECT {texts} FROM "
    assert ours(con, f"{same} '{path}') AS x") == theirs(f"{same} read_csv('{path}', {peer})) AS x")
    numbers = [name for name in ("i", "f") if found.schema.field(name).type == pa.float64()]
    for name in numbers:
        cast = f"SELECT sum(CAST({name} AS DOUBLE)) FROM read_csv('{path}', {peer})"
        assert ours(con, f"SELECT sum({name}) FROM '{path}'") == theirs(cast)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("array", [False, True])
def test_fields_of_nested_objects(con: pinakes.Connection, tmp_path: Path, seed: int, array: bool) -> None:
    r = random.Random(seed)

    def maybe(make: Callable[[], Any]) -> Any:
        return make() if r.random() < 0.6 else None

    def row(i: int) -> dict[str, Any]:
        tags = [maybe(lambda: {"k": r.randint(0, 5), "v": maybe(lambda: "x")}) for _ in range(r.randint(0, 3))]
        user = {"name": maybe(lambda: r.choice("abc")), "at": maybe(lambda: {"zip": r.randint(1, 9)}), "tags": tags}
        return {"id": i, "grid": maybe(lambda: [[1, 2], [], [r.randint(0, 9)]])} | (
            {"u": maybe(lambda: user)} if r.random() < 0.8 else {}
        )

    rows = [{"id": -1, "grid": [[0]], "u": {"name": "z", "at": {"zip": 1}, "tags": [{"k": 1, "v": "y"}]}}]
    rows += [row(i) for i in range(200)]
    path = tmp_path / "rows.json"
    path.write_text(json.dumps(rows) if array else "\n".join(map(json.dumps, rows)))
    for select in (
        "id, u.name, u.at.zip, u.tags[1].k AS k, u.tags[2].v AS v, grid[3][1] AS g",
        "id, u.name IS NULL AS n, u.at IS NULL AS a, u.at.zip IS NULL AS z",
    ):
        sql = f"SELECT {select} FROM '{path}' ORDER BY id"
        assert ours(con, sql) == theirs(sql)
    sql = f"SELECT count(u.name), count(u.at.zip), sum(u.at.zip), count(u.tags) FROM '{path}'"
    assert ours(con, sql) == theirs(sql)
    sql = f"SELECT s.id, s.t.k, s.t.v FROM (SELECT id, unnest(u.tags) AS t FROM '{path}') AS s ORDER BY 1, 2, 3"
    assert sorted(map(repr, ours(con, sql))) == sorted(map(repr, theirs(sql)))
