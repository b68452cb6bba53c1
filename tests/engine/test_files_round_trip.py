"""What COPY … TO writes, COPY … FROM reads: every type and odd value, in every format, with and without options."""

from __future__ import annotations

import math
from collections.abc import Iterator
from datetime import UTC, date, datetime, time
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from pinakes.engine.binding.memory_sources import Rows
from pinakes.engine.session import Session
from tests.engine.support import an_engine, do, how_many, rows

TEXTS = [
    *("", "NULL", "null", " ", "  x ", "a,b", 'q"q', '""', '"', "'", "tab\tx", "l1\nl2", "cr\rx", "crlf\r\nx", "a;b"),
    *("a|b", "007", "+41", "1", "1.5", "true", "2024-01-01", "2024-01-01 10:00", "12:00:00", "nan", "NaN", "-Infinity"),
    *("é😀", "\\", "\\n", '\\"', "\\N", "\\x61", "#c", "{}", "[1]", '{"a":1}', "\x01", "\ufeff", "-", "-0", "1e5"),
    *("c0", "c1", "column0"),
]
MOMENTS = st.datetimes(datetime(1, 1, 2), datetime(9999, 12, 30))
TYPES: dict[str, tuple[pa.DataType, st.SearchStrategy[Any]]] = {
    "VARCHAR": (pa.string(), st.sampled_from(TEXTS) | st.text(st.characters(codec="utf-8", exclude_characters="\0"))),
    "BIGINT": (pa.int64(), st.integers(-(2**63), 2**63 - 1)),
    "INTEGER": (pa.int32(), st.integers(-(2**31), 2**31 - 1)),
    "DOUBLE": (pa.float64(), st.floats()),
    "REAL": (pa.float32(), st.floats(width=32)),
    "DECIMAL(38, 6)": (pa.decimal128(38, 6), st.decimals(-(10**31), 10**31, places=6, allow_nan=False)),
    "DATE": (pa.date32(), st.dates(date(1, 1, 1), date(9999, 12, 31))),
    "TIME(6)": (pa.time64("us"), st.times()),
    "TIMESTAMP(6)": (pa.timestamp("us"), MOMENTS),
    "TIMESTAMP(6) WITH TIME ZONE": (pa.timestamp("us", "UTC"), MOMENTS.map(lambda moment: moment.replace(tzinfo=UTC))),
    "BOOLEAN": (pa.bool_(), st.booleans()),
    "VARBINARY": (pa.binary(), st.binary(max_size=20) | st.sampled_from([b"\\x61", b"abc", b"00"])),
}
OPTIONS = {
    "csv": [
        "",
        "NULL 'NULL'",
        "NULL '\\N'",
        "DELIMITER ';', QUOTE ''''",
        "ESCAPE '\\'",
        "HEADER false",
        "DELIMITER '|', HEADER false",
        "COMPRESSION gzip",
    ],
    "tsv": ["", "NULL '-'"],
    "jsonl": ["", "COMPRESSION zstd"],
    "json": [""],
    "parquet": ["", "COMPRESSION zstd"],
    "arrow": ["", "COMPRESSION lz4"],
}
CASES = [(format, options) for format, every in OPTIONS.items() for options in every]


@st.composite
def tables(draw: st.DrawFn) -> tuple[list[str], pa.Table]:
    kinds = draw(st.lists(st.sampled_from(sorted(TYPES)), min_size=1, max_size=4))
    many = draw(st.integers(1, 8))
    columns = [draw(st.lists(st.none() | TYPES[kind][1], min_size=many, max_size=many)) for kind in kinds]
    arrays = [pa.array(values, TYPES[kind][0]) for kind, values in zip(kinds, columns, strict=True)]
    return kinds, pa.table(arrays, names=[f"c{i}" for i in range(len(kinds))])


@pytest.fixture(scope="module")
def session() -> Iterator[Session]:
    with an_engine() as engine:
        yield engine.session()


def same(value: Any) -> str:
    """Equal texts for equal values; NaN is one value, 0 and -0 are two."""
    return "nan" if isinstance(value, float) and math.isnan(value) else repr(value)


@pytest.mark.parametrize(("format", "options"), CASES)
@settings(max_examples=how_many(8, 200), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(made=tables())
@example(made=(["VARCHAR"], pa.table({"c0": ["\ufeff"]})))
def test_all_comes_back(
    session: Session, tmp_path: Path, format: str, options: str, made: tuple[list[str], pa.Table]
) -> None:
    kinds, table = made
    path = tmp_path / f"copied.{format}"
    session.temporary.put("src", Rows(table))
    do(session, "DROP TABLE IF EXISTS copied")
    do(session, f"CREATE TABLE copied ({', '.join(f'c{i} {kind}' for i, kind in enumerate(kinds))})")
    do(session, f"COPY (SELECT * FROM src) TO '{path}' ({options})" if options else f"COPY src TO '{path}'")
    kept = ", ".join(o for o in options.split(", ") if not o.startswith("COMPRESSION"))
    do(session, f"COPY copied FROM '{path}'" + (f" ({kept})" if kept else ""))
    found = rows(session, "SELECT * FROM copied")
    wanted = zip(*(column.to_pylist() for column in table.columns), strict=True)
    assert [[same(v) for v in row] for row in found] == [[same(v) for v in row] for row in wanted]


NESTED = pa.table(
    {
        "list": pa.array([None, [], ["a", None, 'b,"c'], [""]], pa.list_(pa.string())),
        "floats": pa.array([[math.inf], [1.5, math.nan], None, []], pa.list_(pa.float64())),
        "struct": pa.array(
            [None, {"x": None, "y": "z"}, {"x": 1, "y": "q"}, None], pa.struct([("x", pa.int64()), ("y", pa.string())])
        ),
    }
)


@pytest.mark.parametrize("format", ["jsonl", "json", "parquet", "arrow"])
def test_nested_values_come_back(session: Session, tmp_path: Path, format: str) -> None:
    session.temporary.put("src", Rows(NESTED))
    do(session, f"COPY src TO '{tmp_path}/nested.{format}'")
    found = session.run(f"SELECT * FROM '{tmp_path}/nested.{format}'").read_all()
    assert repr(found.to_pylist()) == repr(NESTED.to_pylist())


def test_types_are_found_out_as_they_were(session: Session, tmp_path: Path) -> None:
    """Without a table that says them."""
    moment = datetime(2024, 2, 29, 23, 59, 59, 999999)
    table = pa.table(
        {
            "i": pa.array([1, None]),
            "f": pa.array([math.nan, 1.0]),
            "d": pa.array([date(1, 1, 1), date(9999, 12, 31)]),
            "t": pa.array([moment, None], pa.timestamp("us")),
            "z": pa.array([moment, None], pa.timestamp("us", "UTC")),
            "h": pa.array([time(1, 2, 3), None], pa.time64("us")),
            "b": pa.array([True, None]),
            "s": pa.array(["007", ""]),
        }
    )
    session.temporary.put("src", Rows(table))
    for format in ("csv", "tsv", "jsonl", "json"):
        do(session, f"COPY src TO '{tmp_path}/typed.{format}'")
        found = session.run(f"SELECT * FROM '{tmp_path}/typed.{format}'").read_all()
        assert found.schema.types == table.schema.types, format
        assert repr(found.to_pylist()) == repr(table.to_pylist())


def test_whole_numbers_too_long_for_bigint(session: Session, tmp_path: Path) -> None:
    for format in ("csv", "jsonl"):
        path = tmp_path / f"long.{format}"
        path.write_text(
            "n\n123456789012345678901234567890\n" if format == "csv" else '{"n": 123456789012345678901234567890}'
        )
        assert rows(session, f"SELECT * FROM '{path}'") == [(Decimal("123456789012345678901234567890"),)]
