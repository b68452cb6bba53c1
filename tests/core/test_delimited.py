"""CSV as Python's own module reads it, whatever the cells hold and whatever the signs are."""

from __future__ import annotations

import csv
import io

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinakes.core.output.row_formats import CSV, TSV, Delimited

cells = st.none() | st.text(st.characters(codec="utf-8") | st.sampled_from(",;\t\"'\\\r\n|"), max_size=6)


def written(form: Delimited, table: pa.Table) -> str:
    parts = [form.header(table.schema.names).decode()]
    parts += [str(lines, "utf-8") + "\n" for batch in table.to_batches(3) for lines in form.lines(batch)]
    return "".join(parts)


@given(
    st.lists(st.tuples(cells, cells), max_size=8), st.sampled_from([CSV, TSV, Delimited(";", "'", "'"), Delimited("|")])
)
def test_python_reads_back_what_was_written(rows: list[tuple[str | None, str | None]], form: Delimited) -> None:
    table = pa.table(
        {"a,b": pa.array([r[0] for r in rows], pa.string()), "c": pa.array([r[1] for r in rows], pa.string())}
    )
    text = io.StringIO(written(form, table), newline="")
    found = list(csv.reader(text, delimiter=form.delimiter, quotechar=form.quote, strict=True))
    assert found == [["a,b", "c"], *([a or "", b or ""] for a, b in rows)]


@given(st.lists(cells, max_size=8))
def test_a_single_column_loses_no_row(values: list[str | None]) -> None:
    text = io.StringIO(written(CSV, pa.table({"a": pa.array(values, pa.string())})), newline="")
    assert list(csv.reader(text, strict=True)) == [["a"], *([value or ""] for value in values)]


@given(st.lists(st.tuples(cells, cells), max_size=8))
def test_an_escape_that_is_no_quote(rows: list[tuple[str | None, str | None]]) -> None:
    form = Delimited(escape="\\")
    table = pa.table(
        {"a": pa.array([r[0] for r in rows], pa.string()), "b": pa.array([r[1] for r in rows], pa.string())}
    )
    text = io.StringIO(written(form, table), newline="")
    found = list(csv.reader(text, escapechar="\\", doublequote=False, strict=True))
    assert found[1:] == [[a or "", b or ""] for a, b in rows]


TABLE = pa.table({"s": ["NA", "", None, "a b"], "n": [1, None, -5, 0]})


@pytest.mark.parametrize(
    ("form", "lines"),
    [
        (CSV, ["NA,1", '"",', ",-5", "a b,0"]),
        (Delimited(null="NA"), ['"NA",1', ",NA", "NA,-5", "a b,0"]),
        (Delimited(null="0"), ["NA,1", ",0", "0,-5", 'a b,"0"']),
        (Delimited("-"), ["NA-1", '""-', '-"-5"', "a b-0"]),
        (Delimited(forced=("n",)), ['NA,"1"', '"",', ',"-5"', 'a b,"0"']),
        (Delimited(forced=None), ['"NA","1"', '"",', ',"-5"', '"a b","0"']),
    ],
)
def test_null_and_quotes(form: Delimited, lines: list[str]) -> None:
    assert written(form, TABLE).splitlines()[1:] == lines
