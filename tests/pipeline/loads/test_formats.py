"""JSON, Parquet and Arrow files: what fits, what does not, and what can't be read at all."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest

from pinakes.core.errors import ColumnNotFound, DataCorrupt
from tests.pipeline.loads.support import Place

pytestmark = pytest.mark.slow


def _parquet(path: Path, **columns: object) -> Path:
    path.parent.mkdir(exist_ok=True)
    pq.write_table(pa.table(columns), path)
    return path


# --- JSON ------------------------------------------------------------------------------------------------------------


def test_json_in_lines_and_as_one_value(place: Place) -> None:
    place.write("a.json", '{"a":1,"b":"x","c":{"d":[1,2]}}\n\n{"a":2,"b":null}\n')
    place.write("b.json", '[\n  {"a": 5, "b": "of a list"},\n  {"a": 6}\n]')
    place.write("c.json", '{\n  "a": 7,\n  "b": "alone"\n}\n')
    place.write("d.json", "[]")
    load = place.load("*.json", "json")
    result = place.run(load)
    assert (result.rows, result.files, result.bad_rows) == (5, 4, 0)
    assert place.rows("SELECT a, b, c FROM T.t ORDER BY a") == [
        *((1, "x", {"d": [1, 2]}), (2, None, None), (5, "of a list", None), (6, None, None), (7, "alone", None))
    ]


def test_json_that_does_not_fit(place: Place) -> None:
    records = [
        '{"a":1,"d":"2024-01-01"}',
        '{"a":"x"}',
        '{"a":3} and more',
        '{"a":4',
        "[5]",
        '{"a":6}{"a":7}',
        '{"d":"2024-13-45"}',
        '{"a":8.5}',
    ]
    place.write("a.json", "\n".join(records))
    place.write("b.json", '[{"a":20},{"a":"y"},21]')
    result = place.run(place.load("*.json", "json", columns="a INT, d DATE"))
    assert (result.rows, result.bad_rows) == (2, 9)
    assert place.rows("SELECT a, CAST(d AS VARCHAR) FROM T.t ORDER BY a") == [(1, "2024-01-01"), (20, None)]
    reasons = {(file, record): reason for file, record, reason in place.bad()}
    assert reasons == {
        ("a.json", '{"a":"x"}'): "column 'a': 'x' is not a valid INT",
        ("a.json", '{"a":3} and more'): "the record has something behind its JSON object",
        ("a.json", '{"a":4'): "the record is not a JSON object",
        ("a.json", "[5]"): "the record is not a JSON object",
        ("a.json", '{"a":6}{"a":7}'): "the record has something behind its JSON object",
        ("a.json", '{"d":"2024-13-45"}'): "column 'd': '2024-13-45' is not a valid DATE",
        ("a.json", '{"a":8.5}'): "column 'a': '8.5' is not a valid INT",
        ("b.json", '{"a":"y"}'): "column 'a': 'y' is not a valid INT",
        ("b.json", "21"): "the record is not a JSON object",
    }


def test_a_new_field_of_json(place: Place) -> None:
    place.write("a.json", '{"a":1}\n')
    place.run(place.load("*.json", "json"))
    place.write("b.json", '{"a":2}\n{"a":3,"new":1.5}\n')
    with pytest.raises(ColumnNotFound, match=r"b\.json' has a column 'new'"):
        place.run(place.load("*.json", "json"))
    assert place.rows("SELECT * FROM T.t") == [(1,)]
    assert place.run(place.load("*.json", "json", schema_evolution="add")).rows == 2
    assert place.rows("SELECT * FROM T.t ORDER BY a") == [(1, None), (2, None), (3, 1.5)]


# --- Parquet ---------------------------------------------------------------------------------------------------------


def test_parquet_that_changed_its_types(place: Place) -> None:
    _parquet(place.directory / "in" / "a.parquet", a=pa.array([1], pa.int32()), b=["x"])
    load = place.load("*.parquet", "parquet")
    place.run(load)
    _parquet(place.directory / "in" / "b.parquet", b=["y", "z", "w"], a=["2", "no number", "99999999999"])
    result = place.run(load)
    assert (result.rows, result.bad_rows) == (1, 2)
    assert place.rows("SELECT * FROM T.t ORDER BY a") == [(1, "x"), (2, "y")]
    assert place.bad() == [
        ("b.parquet", '{"b":"w","a":"99999999999"}', "column 'a': '99999999999' is not a valid INT"),
        ("b.parquet", '{"b":"z","a":"no number"}', "column 'a': 'no number' is not a valid INT"),
    ]
    _parquet(place.directory / "in" / "c.parquet", a=pa.array([3], pa.int32()), b=["v"], c=[1.5])
    with pytest.raises(ColumnNotFound, match=r"c\.parquet' has a column 'c'"):
        place.run(load)


def test_parquet_files_that_are_broken(place: Place) -> None:
    inside = place.directory / "in"
    _parquet(inside / "a.parquet", a=[1])
    load = place.load("*.parquet", "parquet", bad_records="fail")
    place.run(load)
    path = _parquet(inside / "b.parquet", a=list(range(100_000)))
    bytes = bytearray(path.read_bytes())
    bytes[2000:4000] = b"\0" * 2000
    path.write_bytes(bytes)
    place.write("c.parquet", b"PAR1 and nothing")
    _parquet(inside / "d.parquet", a=[2])
    with pytest.raises(DataCorrupt, match=r"\.t was not loaded and is unchanged.*c\.parquet': the file can't be read"):
        place.run(load)
    assert place.rows("SELECT * FROM T.t") == [(1,)]
    result = place.run(place.load("*.parquet", "parquet"))
    assert (result.rows, result.files, result.bad_rows) == (1, 3, 2)
    assert [(file, record) for file, record, _ in place.bad()] == [("b.parquet", None), ("c.parquet", None)]
    assert place.rows("SELECT * FROM T.t ORDER BY a") == [(1,), (2,)]


# --- Arrow -----------------------------------------------------------------------------------------------------------


def test_arrow_files_streams_and_feather(place: Place) -> None:
    inside = place.directory / "in"
    inside.mkdir()
    moments = pa.array([1_000, 2_000], pa.timestamp("ns"))
    table = pa.table({"a": [1, 2], "t": moments, "k": pa.array(["x", "y"]).dictionary_encode()})
    feather.write_feather(table, inside / "a.feather")
    with pa.ipc.new_stream(str(inside / "b.arrow"), table.schema) as writer:
        writer.write_table(table)
    with pa.ipc.new_file(str(inside / "c.arrow"), table.schema) as writer:
        writer.write_table(table)
    place.write("d.arrow", b"ARROW1 and nothing")
    result = place.run(place.load("", "arrow"))
    assert (result.rows, result.files, result.bad_rows) == (6, 4, 1)
    assert place.rows("SELECT a, CAST(t AS VARCHAR), k, count(*) FROM T.t GROUP BY a, t, k ORDER BY a") == [
        (1, "1970-01-01 00:00:00.000001", "x", 3),
        (2, "1970-01-01 00:00:00.000002", "y", 3),
    ]
    assert [(file, record) for file, record, _ in place.bad()] == [("d.arrow", None)]
    spool = place.context.spool
    assert spool is not None
    assert not list(Path(spool.place.removeprefix("file://")).glob("load-*"))
