"""Avro, ORC and Excel files, and archives: their values, their options, and what is refused of them."""

from __future__ import annotations

import gzip
import importlib
import zipfile
from collections.abc import Iterator
from datetime import date, datetime, time
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from pyarrow import orc

from pinakes.api.build import open_engine
from pinakes.config.model import parse_config
from pinakes.config.serving import StatementLimits
from pinakes.core.errors import DataCorrupt, FileNotFound, InvalidArgument, NotSupportedError, PermissionDenied
from pinakes.core.identity import Identity
from pinakes.engine.execution.admission import Admission
from pinakes.engine.session import Session
from tests.engine.avro_writer import avro_file
from tests.engine.workbooks import Broken, write_workbook


@pytest.fixture
def session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Session]:
    (tmp_path / "data").mkdir()
    monkeypatch.chdir(tmp_path / "data")
    with open_engine(parse_config(f"[engine]\ndata = '{tmp_path / 'lake'}'", tmp_path)) as engine:
        yield engine.session()


def rows(session: Session, sql: str) -> list[tuple[Any, ...]]:
    found = session.run(sql).read_all()
    return list(zip(*(column.to_pylist() for column in found.columns), strict=True))


def types(session: Session, path: str) -> dict[str, str]:
    return {row[0]: row[1] for row in rows(session, f"DESCRIBE '{path}'")}


# --- Avro --------------------------------------------------------------------------------------------------------


def _logical(type: str, name: str, **more: Any) -> dict[str, Any]:
    return {"type": type, "logicalType": name, **more}


_FIXED = {"type": "fixed", "name": "Dec", "size": 4, "logicalType": "decimal", "precision": 9, "scale": 2}
_AVRO: dict[str, tuple[Any, list[Any]]] = {
    "i": ("int", [1, -2]),
    "l": ("long", [2**62, -1]),
    "n": (["null", "long"], [(1, 5), None]),
    "r": (["string", "null"], [(0, "x"), (1, None)]),
    "f": ("float", [1.5, -2.25]),
    "d": ("double", [1e300, 0.0]),
    "b": ("boolean", [True, False]),
    "raw": ("bytes", [b"\x00\xff", b""]),
    "e": ({"type": "enum", "name": "E", "symbols": ["A", "B"]}, ["B", "A"]),
    "day": (_logical("int", "date"), [19_000, -1]),
    "at": (_logical("long", "local-timestamp-millis"), [1_700_000_000_123, -1]),
    "t": (_logical("long", "time-micros"), [1000, 0]),
    "n2": (_FIXED, [b"\x00\x00\x00\x96", b"\xff\xff\xff\xff"]),
    "u": (_logical("string", "uuid"), ["00112233-4455-6677-8899-aabbccddeeff"] * 2),
    "list": ({"type": "array", "items": ["null", "string"]}, [[(1, "a"), None], []]),
    "rec": (["null", {"type": "record", "name": "S", "fields": [{"name": "x", "type": "int"}]}], [(1, {"x": 5}), None]),
}


def _avro(columns: dict[str, tuple[Any, list[Any]]]) -> bytes:
    schema = {"type": "record", "name": "R", "fields": [{"name": n, "type": t} for n, (t, _) in columns.items()]}
    count = len(next(iter(columns.values()))[1])
    return avro_file(schema, [{n: values[i] for n, (_, values) in columns.items()} for i in range(count)])


def test_avro_as_duckdb_reads_it(session: Session) -> None:
    Path("a.avro").write_bytes(_avro(_AVRO))
    package = importlib.import_module("duckdb_extension_avro")
    extension = next(Path(package.__path__[0]).rglob(f"v{duckdb.__version__}/avro.duckdb_extension"))
    with duckdb.connect(config={"allow_unsigned_extensions": "true"}) as peer:
        peer.execute(f"LOAD '{extension}'")
        theirs = peer.sql("FROM read_avro('a.avro')").fetchall()
    assert rows(session, "SELECT * FROM 'a.avro'") == theirs
    assert rows(session, "SELECT rec.x, rec.x IS NULL FROM read_avro('a.avro') WHERE i < 0") == [(None, True)]
    assert rows(session, "SELECT count(*), sum(l) FROM 'a.avro' WHERE e = 'A'") == [(1, -1)]
    assert types(session, "a.avro")["at"] == "timestamp(3)"


def test_an_instant_is_in_the_zone_of_the_session(session: Session) -> None:
    Path("z.avro").write_bytes(_avro({"at": (_logical("long", "timestamp-micros"), [1_700_000_000_123_456])}))
    session.run("SET TIME ZONE 'Asia/Tokyo'").read_all()
    assert rows(session, "SELECT CAST(at AS VARCHAR) FROM 'z.avro'") == [("2023-11-15 07:13:20.123456+09",)]


def test_avro_that_has_no_place_in_sql(session: Session) -> None:
    Path("u.avro").write_bytes(_avro({"x": (["null", "long", "string"], [(1, 1), (2, "x")])}))
    with pytest.raises(NotSupportedError, match="unions"):
        rows(session, "SELECT * FROM 'u.avro'")
    nested = {"type": "array", "items": _logical("string", "uuid")}
    Path("v.avro").write_bytes(_avro({"x": (nested, [[]])}))
    with pytest.raises(NotSupportedError, match="uuids within it"):
        rows(session, "SELECT * FROM 'v.avro'")


def test_damaged_avro(session: Session) -> None:
    whole = _avro(_AVRO)
    for content in (b"", b"Obj\x01", b"nothing", whole[:-20], whole[:200]):
        Path("d.avro").write_bytes(content)
        with pytest.raises(DataCorrupt, match=r"d\.avro' is not a readable Avro file"):
            rows(session, "SELECT * FROM 'd.avro'")


# --- ORC ---------------------------------------------------------------------------------------------------------


def test_orc(session: Session) -> None:
    table = pa.table(
        {
            "i": [1, None, 3],
            "d": pa.array([Decimal("1.50"), None, Decimal("-2.25")]),
            "day": pa.array([date(2024, 1, 31)] * 3),
            "at": pa.array([datetime(2024, 1, 31, 12, 30, 1, 5)] * 3, pa.timestamp("us")),
            "l": [[1], [], None],
            "st": [{"a": "x"}, None, {"a": None}],
            "a.b": ["x", "y", None],
        }
    )
    orc.write_table(table, "a.orc")
    assert rows(session, "SELECT * FROM 'a.orc'") == list(zip(*(c.to_pylist() for c in table.columns), strict=True))
    assert rows(session, "SELECT st.a, \"a.b\" FROM read_orc('a.orc') WHERE i IS NULL") == [(None, "y")]
    assert rows(session, "SELECT count(*) FROM 'a.orc'") == [(3,)]
    orc.write_table(pa.table({"i": [4.5], "more": [True]}), "b.orc")
    both = "SELECT i, more, replace(filename, '.orc', '') FROM read_orc(['a.orc', 'b.orc'], union_by_name => true, "
    found = rows(session, both + "filename => true) WHERE i > 2 ORDER BY i")
    assert [(i, more) for i, more, _ in found] == [(3.0, None), (4.5, True)]
    session.run("CREATE TABLE t AS SELECT i, d, day, at, l FROM 'a.orc'").read_all()
    assert rows(session, "SELECT count(*), max(d) FROM t") == [(3, Decimal("1.50"))]


def test_orc_has_several_stripes(session: Session) -> None:
    numbers = pa.table({"i": range(300_000), "s": [f"text {i % 7}" for i in range(300_000)]})
    orc.write_table(numbers, "s.orc", stripe_size=65_536)
    assert orc.ORCFile("s.orc").nstripes > 1
    assert rows(session, "SELECT count(*), sum(i), count(DISTINCT s) FROM 's.orc'") == [(300_000, 44_999_850_000, 7)]


def test_damaged_orc(session: Session) -> None:
    orc.write_table(pa.table({"i": [1]}), "a.orc")
    whole = Path("a.orc").read_bytes()
    for content in (b"", b"ORC", b"nothing at all", whole[:-1]):
        Path("d.orc").write_bytes(content)
        with pytest.raises(DataCorrupt, match=r"d\.orc' "):
            rows(session, "SELECT * FROM 'd.orc'")


# --- Excel -------------------------------------------------------------------------------------------------------

_CELLS: list[list[Any]] = [
    ["id", "name", "at", "day", "ok", "t", "mixed", "bad", None],
    [1, "ann", datetime(2024, 1, 31, 12, 30, 15), date(2024, 1, 31), True, time(12, 30), 1, 1],
    [2.5, None, datetime(2024, 2, 29), date(1900, 3, 1), False, time(0, 0, 1), "x", Broken("#N/A"), "late"],
    [None],
    [3, "", None, date(2024, 2, 1), None, None, True, 2],
]


@pytest.mark.parametrize("first", [(1, 1), (4, 3)])
def test_a_sheet_of_a_workbook(session: Session, first: tuple[int, int]) -> None:
    write_workbook(Path("a.xlsx"), {"Sales 2024": _CELLS, "Other": [[1, 2], [3, 4]]}, first)
    assert types(session, "a.xlsx") == {
        "id": "double",
        "name": "varchar",
        "at": "timestamp(6)",
        "day": "date",
        "ok": "boolean",
        "t": "time(6)",
        "mixed": "varchar",
        "bad": "double",
        "column8": "varchar",
    }
    assert rows(session, "SELECT * FROM 'a.xlsx'") == [
        (1.0, "ann", datetime(2024, 1, 31, 12, 30, 15), date(2024, 1, 31), True, time(12, 30), "1", 1.0, None),
        (2.5, None, datetime(2024, 2, 29), date(1900, 3, 1), False, time(0, 0, 1), "x", None, "late"),
        (None,) * 9,
        (3.0, "", None, date(2024, 2, 1), None, None, "true", 2.0, None),
    ]
    assert rows(session, "SELECT name FROM 'a.xlsx' WHERE id > 2.5") == [("",)]
    assert rows(session, "SELECT count(*) FROM 'a.xlsx'") == [(4,)]


def test_options_of_workbooks(session: Session) -> None:
    late = [["n", "s"], *([i, "x"] for i in range(3000)), ["n/a", 1]]
    write_workbook(Path("a.xlsx"), {"One": late, "Two": [[1, 2], [3, 4]]})
    assert rows(session, "SELECT * FROM read_xlsx('a.xlsx', sheet => 'two')") == [(1.0, 2.0), (3.0, 4.0)]
    assert rows(session, "SELECT * FROM read_xlsx('a.xlsx', sheet => 'Two', header => true) AS t(\"1\", b)") == [(3, 4)]
    found = "SELECT * FROM read_xlsx('a.xlsx', sheet => 'Two', all_varchar => true, header => false)"
    assert rows(session, found) == [("1", "2"), ("3", "4")]
    assert rows(session, "SELECT n, s FROM 'a.xlsx' WHERE n = '2999' OR s = '1'") == [("2999", "x"), ("n/a", "1")]
    with pytest.raises(InvalidArgument, match=r"has no sheet 'Three'; it has: One, Two"):
        rows(session, "SELECT * FROM read_xlsx('a.xlsx', sheet => 'Three')")


def test_workbooks_that_can_not_be_read(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    write_workbook(Path("e.xlsx"), {"Empty": []})
    with pytest.raises(DataCorrupt, match=r"sheet 'Empty' of .* has no cells"):
        rows(session, "SELECT * FROM 'e.xlsx'")
    with zipfile.ZipFile("z.xlsx", "w") as packed:
        packed.writestr("nothing.xml", "")
    for content in (b"", b"id,name\n1,x\n", Path("z.xlsx").read_bytes(), Path("e.xlsx").read_bytes()[:-30]):
        Path("d.xlsx").write_bytes(content)
        with pytest.raises(DataCorrupt, match=r"d\.xlsx' is not a readable Excel workbook"):
            rows(session, "SELECT * FROM 'd.xlsx'")
    monkeypatch.setattr("pinakes.engine.files.reading.excel._MOST_BYTES", 1000)
    write_workbook(Path("l.xlsx"), {"Large": [["a" * 2000]]})
    with pytest.raises(DataCorrupt, match="at most 1,000 are read"):
        rows(session, "SELECT * FROM 'l.xlsx'")


# --- archives ----------------------------------------------------------------------------------------------------


def _archive(path: str, members: dict[str, str | bytes], method: int = zipfile.ZIP_DEFLATED) -> None:
    with zipfile.ZipFile(path, "w", method) as packed:
        for name, content in members.items():
            packed.writestr(name, content)


def test_the_only_file_of_an_archive(session: Session) -> None:
    _archive("orders.zip", {"__MACOSX/x.csv": "", "deep/": "", "deep/2024.csv": "id,v\n1,x\n2,y\n"})
    assert rows(session, "SELECT orders.id, v FROM 'orders.zip' WHERE id > 1") == [(2, "y")]
    assert rows(session, "SELECT filename FROM read_csv('orders.zip', filename => true) LIMIT 1") == [
        (str(Path("orders.zip/deep/2024.csv").absolute()),)
    ]
    _archive("lines.jsonl.zip", {"lines.jsonl": '{"a": {"b": [1]}}\n'}, zipfile.ZIP_STORED)
    assert rows(session, "SELECT a.b[1] FROM 'lines.jsonl.zip'") == [(1,)]
    _archive("array.zip", {"a.json": "[" + ", ".join(f'{{"i": {i}}}' for i in range(50_000)) + "]"})
    assert rows(session, "SELECT count(*), sum(i) FROM 'array.zip'") == [(50_000, 1_249_975_000)]
    _archive("gz.zip", {"a.csv.gz": gzip.compress(b"i\n7\n")})
    assert rows(session, "SELECT i FROM 'gz.zip'") == [(7,)]
    late = "a,b\n" + "1,2\n" * 100_000 + "x,1.5\n"
    _archive("late.zip", {"late.csv": late})
    assert rows(session, "SELECT a, b FROM 'late.zip' WHERE b < 2") == [("x", 1.5)]


def test_an_archive_with_several_files(session: Session) -> None:
    _archive("many.zip", {"a.csv": "i\n1\n", "d/b.csv": "i\n2\n", "c.parquet": b"PAR1", "notes.txt": "i;j\n3;4\n"})
    with pytest.raises(InvalidArgument, match=r"has several files: a\.csv, .*\. Name one, as in '.*many\.zip/a\.csv'"):
        rows(session, "SELECT * FROM 'many.zip'")
    assert rows(session, "SELECT * FROM 'many.zip/d/b.csv'") == [(2,)]
    assert rows(session, "SELECT i FROM read_csv(['many.zip/a.csv', 'many.zip/d/b.csv']) ORDER BY i") == [(1,), (2,)]
    assert rows(session, "SELECT * FROM read_csv('many.zip/notes.txt')") == [(3, 4)]
    session.run("CREATE TABLE t (i INT)").read_all()
    for name in ("a.csv", "d/b.csv", "a.csv"):
        session.run(f"COPY INTO t FROM 'many.zip/{name}'").read_all()
    assert rows(session, "SELECT i FROM t ORDER BY i") == [(1,), (2,)]
    with pytest.raises(FileNotFound, match=r"has no file 'd/a\.csv' in it\. Did you mean '.*many\.zip/"):
        rows(session, "SELECT * FROM 'many.zip/d/a.csv'")
    with pytest.raises(NotSupportedError, match="CSV and JSON files can be read"):
        rows(session, "SELECT * FROM 'many.zip/c.parquet'")


def test_archives_that_can_not_be_read(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    _archive("a.zip", {"a.csv": "i\n" + "1\n" * 10_000})
    whole = Path("a.zip").read_bytes()
    middle = len(whole) // 3
    broken = whole[:middle] + bytes(byte ^ 255 for byte in whole[middle : middle + 5]) + whole[middle + 5 :]
    for content in (b"", b"i\n1\n", whole[:-10], broken):
        Path("d.zip").write_bytes(content)
        with pytest.raises(DataCorrupt, match=r"d\.zip"):
            rows(session, "SELECT sum(i) FROM 'd.zip'")
    encrypted = bytearray(whole)
    encrypted[whole.index(b"PK\x01\x02") + 8] |= 1
    Path("e.zip").write_bytes(encrypted)
    with pytest.raises(NotSupportedError, match="is encrypted"):
        rows(session, "SELECT * FROM 'e.zip'")
    _archive("l.zip", {"a.csv": "i\n1\n"}, zipfile.ZIP_LZMA)
    with pytest.raises(NotSupportedError, match="compressed in a way that is not supported"):
        rows(session, "SELECT * FROM 'l.zip'")
    _archive("n.zip", {})
    with pytest.raises(DataCorrupt, match="has no files in it"):
        rows(session, "SELECT * FROM 'n.zip'")
    monkeypatch.setattr("pinakes.engine.files.archives._MOST_BYTES_OF_DIRECTORY", 10)
    with pytest.raises(DataCorrupt, match="too many members"):
        rows(session, "SELECT * FROM 'a.zip'")


def test_archives_are_confined_to_the_allowed_directories(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    _archive(str(tmp_path / "out.zip"), {"a.csv": "i\n1\n"})
    (tmp_path / "in" / "link.zip").symlink_to(tmp_path / "out.zip")
    config = f"[engine]\ndata = '{tmp_path / 'lake'}'\nallowed_paths = ['{tmp_path / 'in'}']"
    with open_engine(parse_config(config, tmp_path)) as engine:
        outside = (f"{tmp_path}/out.zip", f"{tmp_path}/out.zip/a.csv", f"{tmp_path}/in/link.zip")
        for path in (*outside, f"{tmp_path}/in/link.zip/a.csv", f"{tmp_path}/in/../out.zip/a.csv"):
            with pytest.raises(PermissionDenied, match="outside of the directories"):
                rows(engine.session(), f"SELECT * FROM '{path}'")


# --- on a server -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["a.avro", "a.orc", "a.xlsx"])
def test_a_server_reads_them_for_administrators_only(session: Session, name: str) -> None:
    Path("a.avro").write_bytes(_avro({"i": ("int", [7])}))
    orc.write_table(pa.table({"i": [7]}), "a.orc")
    write_workbook(Path("a.xlsx"), {"One": [["i"], [7]]})
    session.engine.admission = Admission(StatementLimits())
    admin = session.engine.session(Identity("ann", roles=frozenset({"admin"})))
    assert rows(admin, f"SELECT i FROM '{name}'") == [(7,)]
    user = session.engine.session(Identity("bob"))
    user.run("CREATE TEMP TABLE t (i INT)").read_all()
    for sql in (f"SELECT * FROM '{name}'", f"DESCRIBE '{name}'", f"COPY t FROM '{name}'"):
        with pytest.raises(PermissionDenied, match="read for administrators only here"):
            rows(user, sql)
