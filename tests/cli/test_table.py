"""Results for people: what a table does when it is too wide, and the expanded form."""

from __future__ import annotations

import io

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from pinakes.cli.formats import expanded, table
from pinakes.cli.formats.layout import Look
from pinakes.engine.result import Result


def shown(write, data: pa.Table, width: int | None = None, look: Look | None = None) -> str:
    out = io.StringIO()
    result = Result(data.schema, data.to_batches(max_chunksize=1000))
    assert write(result, out, width, look or Look()) == data.num_rows
    return out.getvalue()


def test_numbers_are_never_cut() -> None:
    data = pa.table({"n": [1234567890123456789], "text": ["x" * 200], "m": [1.23456789012345e-100]})
    printed = shown(table.write, data, 80)
    assert "1234567890123456789" in printed
    assert "1.23456789012345e-100" in printed
    assert {cell_len(line) for line in printed.splitlines()[:-1]} == {80}


def test_numbers_that_grow_below_the_first_rows_are_whole() -> None:
    data = pa.table({"n": [10**n for n in range(19) for _ in range(1000)]})
    for width in (None, 80):
        assert "│ 1000000000000000000 │" in shown(table.write, data, width)


def test_columns_without_room_are_left_out_and_said() -> None:
    data = pa.table({f"column_{n:02d}": ["some value"] for n in range(20)})
    printed = shown(table.write, data, 60)
    assert max(cell_len(line) for line in printed.splitlines()) <= 60
    assert "(1 row; 5 of 20 columns, \\x shows all)" in printed
    assert "column_19" not in printed
    assert "column_19" in shown(table.write, data)


def test_a_text_null_is_not_a_null() -> None:
    printed = shown(table.write, pa.table({"a": ["NULL", None]}))
    assert '│ "NULL" │' in printed
    assert "│ NULL   │" in printed
    assert "\x1b[2mNULL  \x1b[22m" in shown(table.write, pa.table({"a": ["NULL", None]}), None, Look(colour=True))


def test_what_turns_text_round_is_made_visible() -> None:
    assert "a\\u202eb" in shown(table.write, pa.table({"a": ["a\u202eb"]}))


def test_the_time_stands_below() -> None:
    assert shown(table.write, pa.table({"a": [1]}), None, Look(elapsed=lambda: 1.5)).endswith("(1 row, 1.500 s)\n")


def test_expanded() -> None:
    data = pa.table({"id": [1, None], "名前": ["two\nlines\t", "x" * 30]})
    assert shown(expanded.write, data, 20) == (
        "─[ row 1 ]──────────\n"
        "id   │ 1\n"
        "名前 │ two\n"
        "     │ lines\\t\n"
        "─[ row 2 ]──────────\n"
        "id   │ NULL\n"
        "名前 │ xxxxxxxxxxxxx\n"
        "     │ xxxxxxxxxxxxx\n"
        "     │ xxxx\n"
        "(2 rows)\n"
    )


def test_a_backslash_in_a_value_is_no_line_break() -> None:
    assert "a │ x\\ny\n" in shown(expanded.write, pa.table({"a": ["x\\ny"]}), 40)


@pytest.mark.parametrize(("width", "is_table"), [(80, True), (20, False), (None, True)])
def test_expanded_when_too_wide(width: int | None, is_table: bool) -> None:
    printed = shown(expanded.write_if_wide, pa.table({"a": ["x\n" + "y" * 30]}), width)
    assert printed.startswith("┌" if is_table else "─[ row 1 ]")
    assert ("│ x  " in printed) is is_table


cells = st.one_of(st.none(), st.text(max_size=30))


@given(st.lists(st.tuples(cells, cells, st.one_of(st.none(), st.integers(-9, 99))), max_size=4), st.integers(40, 90))
def test_no_line_is_wider_than_the_terminal(rows: list[tuple[str | None, str | None, int | None]], width: int) -> None:
    columns = list(zip(*rows, strict=True)) or [(), (), ()]
    kinds = (pa.string(), pa.string(), pa.int64())
    clean = [[v.encode("utf-8", "replace").decode() if isinstance(v, str) else v for v in c] for c in columns]
    data = pa.table([pa.array(c, k) for c, k in zip(clean, kinds, strict=True)], names=["a", "b", "c"])
    for write in (table.write, expanded.write):
        lines = shown(write, data, width).split("\n")
        assert all(cell_len(line) <= width for line in lines)
