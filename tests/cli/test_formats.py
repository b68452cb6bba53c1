"""Values and formats: every Arrow type has one plain form, and each format prints it faithfully."""

from __future__ import annotations

import io
import json
import uuid
from datetime import date, time
from decimal import Decimal
from typing import TextIO

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from pinakes.cli.formats import FORMATS, writer
from pinakes.cli.formats.markdown import escaped
from pinakes.core.errors import InvalidArgument
from pinakes.core.output.terminal_text import NARROWEST, fit_width
from pinakes.core.output.value_format import as_text, plain
from pinakes.engine.result import Result

ID = uuid.UUID("12345678-1234-5678-1234-567812345678")
DAY = 86_400


def ints(values: list[int | None], kind: pa.DataType) -> pa.Array:
    return pa.array(values, pa.int64()).cast(kind)


@pytest.mark.parametrize(
    ("array", "texts"),
    [
        (pa.array([True, None]), ["true", None]),
        (pa.array([-(2**63), 2**63 - 1]), ["-9223372036854775808", "9223372036854775807"]),
        (pa.array([1.0, 0.1, 1e300]), ["1.0", "0.1", "1e+300"]),
        (pa.array([float("nan"), float("inf"), float("-inf")]), ["NaN", "Infinity", "-Infinity"]),
        (pa.array([0.1, None], pa.float32()), ["0.1", None]),
        (pa.array([Decimal("1.50"), Decimal("-0.00")]), ["1.50", "0.00"]),
        (pa.array([Decimal("12345678901234567890123456789012345678")]), ["12345678901234567890123456789012345678"]),
        (pa.array([Decimal("1E-10")], pa.decimal128(38, 10)), ["0.0000000001"]),
        (pa.array(["", "ü"], pa.string_view()), ["", "ü"]),
        (pa.array([b"\x00\xff", None]), ["00ff", None]),
        (pa.array([b"\x01"], pa.binary_view()), ["01"]),
        (pa.array([b"ab"], pa.binary(2)), ["6162"]),
        (pa.array([ID.bytes, None], pa.uuid()), [str(ID), None]),
        (pa.array([date(2024, 2, 29), None]), ["2024-02-29", None]),
        (pa.array([10**6], pa.int32()).cast(pa.date32()), ["4707-11-29"]),
        (ints([DAY * 1000], pa.date64()), ["1970-01-02"]),
        (pa.array([time(1, 2, 3)], pa.time32("s")), ["01:02:03"]),
        (ints([3_661_000_000_005], pa.time64("ns")), ["01:01:01.000000005"]),
        (ints([0, 1_500, None], pa.timestamp("ms")), ["1970-01-01T00:00:00", "1970-01-01T00:00:01.5", None]),
        (ints([-1], pa.timestamp("ns")), ["1969-12-31T23:59:59.999999999"]),
        (ints([10**15], pa.timestamp("us", "UTC")), ["2001-09-09T01:46:40+00:00"]),
        (ints([10**15], pa.timestamp("us", "Europe/Amsterdam")), ["2001-09-09T03:46:40+02:00"]),
        (ints([10**15], pa.timestamp("us", "-03:30")), ["2001-09-08T22:16:40-03:30"]),
        (ints([10**17], pa.timestamp("s")), ["100000000000000000/1s"]),
        (ints([90_061_500, 0, -1000], pa.duration("ms")), ["PT25H1M1.5S", "PT0S", "PT-1S"]),
        (pa.array([(14, -3, 4_000)], pa.month_day_nano_interval()), ["P1Y2M-3DT0.000004S"]),
        (pa.array([[1, None], None, []]), ["[1,null]", None, "[]"]),
        (pa.array([[1, 2]], pa.list_(pa.int8(), 2)), ["[1,2]"]),
        (pa.array([{"a": Decimal("1.0"), "b": [date(2020, 1, 1)]}, None]), ['{"a":"1.0","b":["2020-01-01"]}', None]),
        (pa.array([{"a": 1}, None, {"a": 3}])[1:], [None, '{"a":3}']),
        (pa.array([[("k", 1)], None, []], pa.map_(pa.string(), pa.int32())), ['{"k":1}', None, "{}"]),
        (pa.array([[(1, [b"\x01"])]], pa.map_(pa.int32(), pa.list_(pa.binary()))), ['{"1":["01"]}']),
        (pa.array(["x", None, "x"]).dictionary_encode(), ["x", None, "x"]),
        (pa.array([None, None]), [None, None]),
    ],
    ids=lambda value: str(value.type) if isinstance(value, pa.Array) else "",
)  # fmt: skip
def test_every_type_has_a_plain_text(array: pa.Array, texts: list[str | None]) -> None:
    assert [None if v is None else as_text(v) for v in plain(array)] == texts


def shown(table: pa.Table, name: str, width: int | None = None) -> str:
    """What a format prints. Some print text, some bytes below it."""
    text = io.StringIO()
    out: TextIO = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", newline="\n")
    for each in (text, out):
        assert writer(name)(Result(table.schema, table.to_batches(max_chunksize=2)), each, width) == table.num_rows
    out.seek(0)
    assert out.read() == text.getvalue()
    return text.getvalue()


ODD = pa.table({'a"b': ["x,y", 'q"', "tab\tnl\n\\", "", None], "n": [1.5, None, float("nan"), -1.0, 0.0]})


def test_csv_quotes_what_needs_it() -> None:
    expected = '"a""b",n\n"x,y",1.5\n"q""",\n"tab\tnl\n\\",NaN\n"",-1.0\n,0.0\n'
    assert shown(ODD, "csv") == expected


def test_tsv_quotes_what_needs_it() -> None:
    expected = '"a""b"\tn\nx,y\t1.5\n"q"""\t\n"tab\tnl\n\\"\tNaN\n""\t-1.0\n\t0.0\n'
    assert shown(ODD, "tsv") == expected


def test_json_is_valid_and_loses_no_column() -> None:
    same = pa.table([pa.array([1]), pa.array([2]), pa.array([3])], names=["a", "a", "a_1"])
    assert json.loads(shown(same, "json")) == [{"a": 1, "a_1": 2, "a_1_1": 3}]
    assert [row["n"] for row in json.loads(shown(ODD, "json"))] == [1.5, None, "NaN", -1.0, 0.0]
    assert shown(ODD.slice(0, 0), "json") == "[]\n"
    assert shown(ODD.slice(0, 0), "jsonl") == ""


def test_table_shows_null_numbers_right_and_wide_letters() -> None:
    table = pa.table({"名前": ["日本", None], "n": [1, 20]})
    assert shown(table, "table") == (
        "┌──────┬────┐\n│ 名前 │ n  │\n├──────┼────┤\n│ 日本 │  1 │\n│ NULL │ 20 │\n└──────┴────┘\n(2 rows)\n"
    )


def test_table_lets_no_control_character_through() -> None:
    printed = shown(pa.table({"a\n": ["\x1b[2J\x9b", "x\r\ny"]}), "table")
    assert "│ \\x1b[2J\\x9b │" in printed
    assert "│ x\\r " in printed
    assert len(printed.splitlines()) == 8


def test_table_fits_the_terminal_and_a_file_gets_everything() -> None:
    long = pa.table({"id": [1], "text": ["日本" * 100], "more": ["y" * 100]})
    assert max(cell_len(line) for line in shown(long, "table", 60).splitlines()) == 60
    assert "…" in shown(long, "table", 60)
    assert "日本" * 100 in shown(long, "table")


def test_a_table_wider_below_the_sample_loses_nothing() -> None:
    late = pa.table({"a": ["x"] * 1500 + ["y" * 50]})
    assert "y" * 50 in shown(late, "table")


@given(st.lists(st.integers(0, 500), min_size=1, max_size=30), st.integers(1, 300))
def test_fitted_widths_never_exceed_the_terminal_while_they_can_give(widths: list[int], total: int) -> None:
    fit = fit_width(widths, total)
    assert all(f == w or NARROWEST <= f < w for f, w in zip(fit, widths, strict=True))
    assert sum(fit) + 3 * len(fit) + 1 <= total or max(fit) <= NARROWEST


cells = st.one_of(st.none(), st.text(st.characters(codec="utf-8"), max_size=8))


@given(st.lists(st.tuples(cells, cells), max_size=5))
def test_json_gives_back_what_went_in(values: list[tuple[str | None, str | None]]) -> None:
    table = pa.table(
        {"a": pa.array([v[0] for v in values], pa.string()), "b": pa.array([v[1] for v in values], pa.string())}
    )
    assert json.loads(shown(table, "json")) == table.to_pylist()
    assert [json.loads(line) for line in shown(table, "jsonl").split("\n")[:-1]] == table.to_pylist()


@pytest.mark.parametrize("name", FORMATS)
def test_rows_stream(name: str) -> None:
    """The second batch is asked for only when the first (or the table's sample) has been written."""
    below = io.BytesIO()
    out = io.TextIOWrapper(below, encoding="utf-8", write_through=True)
    written: list[int] = []

    def batches():
        for _ in range(3):
            written.append(len(below.getvalue()))
            yield pa.record_batch({"a": list(range(2000))})

    assert writer(name)(Result(pa.schema([("a", pa.int64())]), batches()), out, None) == 6000
    assert written[0] < written[1] < written[2]


# --- markdown ----------------------------------------------------------------------------------------------------


def test_markdown_is_aligned_and_ends_with_an_empty_line() -> None:
    table = pa.table({"名前": ["日本", None], "n": [1, 20]})
    assert shown(table, "markdown") == "| 名前 |   n |\n| ---- | --: |\n| 日本 |   1 |\n| NULL |  20 |\n\n"
    assert shown(table.slice(0, 0), "markdown") == "| 名前 |   n |\n| ---- | --: |\n\n"


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        ("a|b", "a\\|b"),
        ("back\\slash", "back\\\\slash"),
        ("two\nlines\r\nthree", "two<br>lines<br>three"),
        ("<b>*x*</b> `y` ~~z~~", "\\<b>\\*x\\*\\</b> \\`y\\` \\~\\~z\\~\\~"),
        ("order_id", "order_id"),
        ("_x_ __init__", "\\_x\\_ \\_\\_init\\_\\_"),
        ("R&D &amp; &#9;", "R&D &amp;amp; &amp;#9;"),
        ("\x1b[2J", "\\\\x1b[2J"),
    ],
)
def test_markdown_shows_text_as_it_is(text: str, cell: str) -> None:
    assert escaped(text) == cell


def test_markdown_nested_values() -> None:
    table = pa.table({"a": [[1, None]], "b": [{"k": "v|w"}]})
    assert shown(table, "markdown").splitlines()[2] == '| [1,null] | {"k":"v\\|w"} |'


# --- arrow -------------------------------------------------------------------------------------------------------


def test_arrow_streams_follow_each_other() -> None:
    tables = [ODD, ODD.slice(0, 0), pa.table({"l": [[1], None], "s": [{"a": None}, None]}), pa.table({"d": ["x"]})]
    out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    for table in tables:
        assert writer("arrow")(Result(table.schema, table.to_batches(2)), out, None) == table.num_rows
    out.seek(0)
    for table in tables:
        found = pa.ipc.open_stream(out.buffer).read_all()
        assert found.schema.equals(table.schema)
        assert str(found.to_pylist()) == str(table.to_pylist())
    assert out.buffer.read() == b""


def test_arrow_is_not_for_a_terminal() -> None:
    class Terminal(io.TextIOWrapper):
        def isatty(self) -> bool:
            return True

    terminal = Terminal(io.BytesIO())
    for out in (terminal, io.StringIO()):
        with pytest.raises(InvalidArgument, match="send it to a file or a pipe"):
            writer("arrow")(Result(ODD.schema, ODD.to_batches()), out, None)
    assert terminal.buffer.tell() == 0


# --- others ------------------------------------------------------------------------------------------------------


def test_rows_without_columns() -> None:
    nothing = Result(pa.schema([]), [pa.RecordBatch.from_struct_array(pa.array([{}, {}], pa.struct([])))])
    out = io.StringIO()
    assert writer("jsonl")(nothing, out, None) == 2
    assert out.getvalue() == "{}\n{}\n"
