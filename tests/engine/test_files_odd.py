"""Files with odd values and odd names give the rows that are in them, or an error that names them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path

import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest

from pinakes.api.build import open_engine
from pinakes.config.model import parse_config
from pinakes.core.errors import ColumnNotFound, DataCorrupt, InvalidArgument, NotSupportedError, PermissionDenied
from pinakes.engine.session import Session
from tests.engine.support import do, rows

ODD_NAMES = [
    "a b",
    "per%20cent",
    "100%",
    "ha#sh",
    "que?st",
    "st*r",
    "br[x]",
    "é😀",
    "quo'te",
    "back\\slash",
    "a+b&c",
    "{x}",
]


@pytest.fixture
def session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Session]:
    (tmp_path / "data").mkdir()
    monkeypatch.chdir(tmp_path / "data")
    config = f"[engine]\ndata = '{tmp_path / 'lake'}'\nallowed_paths = ['{tmp_path / 'data'}']"
    with open_engine(parse_config(config, tmp_path)) as engine:
        yield engine.session()


# --- NaN ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("t", [pa.float64(), pa.float32(), pa.float16()])
@pytest.mark.parametrize("values", [[1.5, math.nan], [math.nan, 0.0, -0.0], [math.nan, math.nan], [math.inf, math.nan]])
def test_nan_beside_a_single_value(session: Session, values: list[float], t: pa.DataType) -> None:
    """Parquet's statistics say that all are that value, and DataFusion believes it."""
    pq.write_table(pa.table({"x": pa.array(values, t), "n": range(len(values))}), "a.parquet")
    do(session, "CREATE VIEW v AS SELECT * FROM 'a.parquet'")
    do(session, "CREATE TABLE t AS SELECT * FROM 'a.parquet'")
    do(session, "CREATE TABLE c (x REAL, n BIGINT)")
    do(session, "COPY c FROM 'a.parquet'")
    for source in ("'a.parquet'", "v", "t", "c", "(SELECT * FROM 'a.parquet' UNION ALL SELECT * FROM v WHERE n < 0)"):
        assert repr([x for (x,) in rows(session, f"SELECT x FROM {source} ORDER BY n")]) == repr(values), source
    many = sum(math.isnan(v) for v in values)
    assert rows(session, "SELECT count(*) FROM 'a.parquet' WHERE isnan(x)") == [(many,)]


@pytest.mark.parametrize(
    "values", [[math.nan, 1.0], [1.0, math.nan], ["x" * 10_000, "a"], [None, 5], [b"y" * 9_000, b""]]
)
def test_a_row_group_without_statistics_beside_a_single_value(session: Session, values: list[object]) -> None:
    """A text that is too long for statistics leaves its row group without; DataFusion takes the other's for all."""
    pq.write_table(pa.table({"x": values, "n": [0, 1]}), "a.parquet", row_group_size=1)
    assert repr([x for (x,) in rows(session, "SELECT x FROM 'a.parquet' ORDER BY n")]) == repr(values)


def test_statistics_are_used_again_afterwards(session: Session) -> None:
    pq.write_table(pa.table({"x": [1.5, math.nan]}), "a.parquet")
    rows(session, "SELECT * FROM 'a.parquet'")
    with pytest.raises(ColumnNotFound):
        session.run("SELECT nope FROM 'a.parquet'")
    pq.write_table(pa.table({"x": [1, 2]}), "b.parquet")
    (plan,) = [text for kind, text in rows(session, "EXPLAIN SELECT count(*) FROM 'b.parquet'") if "physical" in kind]
    assert "DataSourceExec" not in plan, "the footer knows the count"


@pytest.mark.parametrize("write", [pq.write_table, feather.write_feather])
def test_columns_without_a_value_take_the_type_of_others(session: Session, write: Callable[..., None]) -> None:
    nothing = {"a": pa.nulls(2), "l": pa.array([[None], None], pa.list_(pa.null())), "n": pa.nulls(2)}
    write(pa.table(nothing), "1.data")
    write(pa.table({"a": [5], "l": [[6]], "n": pa.nulls(1)}), "2.data")
    read = "read_parquet" if write is pq.write_table else "read_arrow"
    found = session.run(f"SELECT * FROM {read}('*.data') ORDER BY a, l").read_all()
    assert found.to_pylist()[0] == {"a": 5, "l": [6], "n": None}
    assert sorted(str(row["l"]) for row in found.to_pylist()[1:]) == ["None", "[None]"]
    assert [str(t) for t in found.schema.types[::2]] == ["int64", "string"]
    assert rows(session, f"SELECT a FROM {read}('1.data')") == [(None,), (None,)]


# --- CSV ---------------------------------------------------------------------------------------------------------


def test_a_line_that_is_not_utf_8(session: Session) -> None:
    Path("short.csv").write_bytes("a,b\n1,é\n".encode("latin-1"))
    with pytest.raises(DataCorrupt, match=r"short.csv', line 2: this is not UTF-8"):
        session.run("SELECT * FROM 'short.csv'")


@pytest.mark.parametrize(
    ("text", "options", "found"),
    [
        ('x"y\n#no\nz\n', "", [('x"y',), ("z",)]),
        ('"x\n#yes"\nz\n', "", [("x\n#yes",), ("z",)]),
        ('"a ""b"\n#no\nz\n', "", [('a "b',), ("z",)]),
        ('"a\\"b"\n#no\nz\n', r", escape => '\'", [('a"b',), ("z",)]),
        ('"a\\\\"\n#no\nz\n', r", escape => '\'", [("a\\",), ("z",)]),
    ],
)
def test_comments_are_left_out_only_outside_of_quotes(
    session: Session, text: str, options: str, found: list[tuple[str]]
) -> None:
    Path("a.csv").write_text("name\n" + text)
    assert rows(session, f"SELECT * FROM read_csv('a.csv', comment => '#', header => true{options})") == found


def test_a_header_of_one_column_after_empty_lines(session: Session) -> None:
    Path("a.csv").write_text("\n\nname\nx\n\ny\n")
    assert rows(session, "SELECT name FROM 'a.csv'") == [("x",), (None,), ("y",)]


# --- JSON --------------------------------------------------------------------------------------------------------


def test_null_is_no_row_wherever_it_stands(session: Session) -> None:
    for before in (1, 30_000):
        Path("a.jsonl").write_text('{"a": 1, "b": null}\n' * before + '{"a": null}\n{}\n')
        assert rows(session, "SELECT count(*), count(a) FROM 'a.jsonl'") == [(before + 2, before)]
        Path("a.jsonl").write_text('{"a": 1}\n' * before + 'null\n{"a": 2}\n')
        with pytest.raises(DataCorrupt, match=f"a.jsonl', line {before + 1}: a table's rows are objects"):
            rows(session, "SELECT count(*) FROM 'a.jsonl'")


def test_an_empty_text_is_no_date_and_not_null(session: Session) -> None:
    Path("a.jsonl").write_text('{"d": "2024-01-01"}\n{"d": ""}\n')
    assert rows(session, "SELECT d FROM 'a.jsonl'") == [("2024-01-01",), ("",)]
    Path("a.jsonl").write_text('{"d": "2024-01-01"}\n' * 30_000 + '{"d": ""}\n')
    with pytest.raises(DataCorrupt, match=r"a.jsonl', column 'd': '' is not a valid DATE"):
        rows(session, "SELECT d FROM 'a.jsonl'")
    many = "SELECT count(*), max(d) FROM read_json('a.jsonl', ignore_errors => true)"
    assert rows(session, many) == [(30_000, date(2024, 1, 1))]


def test_a_text_that_looks_like_a_time_is_copied_as_it_is(session: Session) -> None:
    Path("a.jsonl").write_text('{"s": "2024-01-01 10:00", "d": "2024-01-02"}\n')
    do(session, "CREATE TABLE t (S VARCHAR, d DATE)")
    do(session, "COPY t FROM 'a.jsonl'")
    assert rows(session, "SELECT * FROM t") == [("2024-01-01 10:00", date(2024, 1, 2))]


def test_half_a_surrogate_pair(session: Session) -> None:
    for text in ('{"a": "\\ud800"}', '{"a": {"b": ["\\ud800"]}}'):
        Path("a.jsonl").write_text(text)
        with pytest.raises(DataCorrupt, match=r"a\.jsonl' can not be read"):
            rows(session, "SELECT * FROM 'a.jsonl'")


# --- names -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ODD_NAMES)
def test_odd_names(session: Session, name: str) -> None:
    pq.write_table(pa.table({"a": [1, 2]}), f"{name}.parquet")
    Path(f"{name}.csv").write_text("a\n1\n2\n")
    for ending in ("parquet", "csv"):
        path = f"{name}.{ending}".replace("'", "''")
        for written in (path, f"{Path.cwd()}/{path}", f"*.{ending}"):
            assert rows(session, f"SELECT sum(a) FROM '{written}'") == [(3,)]


def test_a_line_break_in_the_name_of_a_parquet_file(session: Session) -> None:
    pq.write_table(pa.table({"a": [1, 2]}), "new\nline.parquet")
    with pytest.raises(NotSupportedError, match="line break"):
        rows(session, "SELECT * FROM '*.parquet'")


def test_partitions_come_back_with_odd_names_and_values(session: Session) -> None:
    values = ["a/b", None, "", "..", "x=y", "%20", "ä ö", "__HIVE_DEFAULT_PARTITION__", ".", "a\nb", "007"]
    listed = ", ".join(f"({i}, {'NULL' if v is None else repr(v)})" for i, v in enumerate(values) if v != "a\nb")
    do(session, f'COPY (SELECT * FROM (VALUES {listed}) t(n, "k é=")) TO \'out\' (FORMAT csv, PARTITION_BY "k é=")')
    found = rows(session, "SELECT n, \"k é=\" FROM 'out' ORDER BY n")
    assert found == [(i, v) for i, v in enumerate(values) if v != "a\nb"]


# --- what SQL may touch --------------------------------------------------------------------------------------------


def test_partitions_are_not_written_through_a_link(session: Session, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    Path("out").mkdir()
    Path("out/k=1").symlink_to(tmp_path / "outside")
    with pytest.raises(PermissionDenied, match=r"k=1/data_0\.csv' is outside"):
        do(
            session,
            "COPY (SELECT 0 AS k, 1 AS a UNION ALL SELECT 1, 2) TO 'out' "
            "(FORMAT csv, PARTITION_BY k, OVERWRITE_OR_IGNORE)",
        )
    assert list((tmp_path / "outside").iterdir()) == []
    assert [p.name for p in Path("out").iterdir()] == ["k=1"]


def test_a_table_lies_where_sql_may_write(session: Session, tmp_path: Path) -> None:
    with pytest.raises(InvalidArgument, match=r"it has a '\.\.' in it"):
        do(session, f"CREATE TABLE t (a INT) LOCATION '{tmp_path}/data/../outside'")
    for location in (f"{tmp_path}/outside", f"file://{tmp_path}/outside"):
        for sql in (
            f"CREATE TABLE t (a INT) LOCATION '{location}'",
            f"CREATE TABLE t LOCATION '{location}' AS SELECT 1 AS a",
        ):
            with pytest.raises(PermissionDenied, match="is outside"):
                do(session, sql)
    assert not (tmp_path / "outside").exists()
    do(session, f"CREATE TABLE t (a INT) LOCATION '{tmp_path}/data/inside'")
