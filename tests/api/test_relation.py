"""Relations: one result in every form, read once or kept."""

from __future__ import annotations

import datetime as dt
import re
import sys
from decimal import Decimal

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import pinakes
from pinakes.engine.execution.tracker import State

SQL = "SELECT value AS id, 'n' || value AS name FROM range(3) ORDER BY id"
ROWS = [(0, "n0"), (1, "n1"), (2, "n2")]


def last_state(con: pinakes.Connection) -> State:
    return con.session.engine.tracker.snapshot()[-1].state


def test_what_it_is(con: pinakes.Connection) -> None:
    relation = con.sql(SQL)
    assert relation.columns == ["id", "name"]
    assert relation.types == ["bigint", "varchar"]
    assert relation.schema.field("id").type == pa.int64()
    assert relation.rowcount == -1


def test_every_form_has_the_same_rows(con: pinakes.Connection) -> None:
    assert con.sql(SQL).fetchall() == ROWS
    assert con.sql(SQL).arrow().to_pydict() == {"id": [0, 1, 2], "name": ["n0", "n1", "n2"]}
    assert con.sql(SQL).reader().read_all() == con.sql(SQL).arrow()
    assert list(con.sql(SQL).df().itertuples(index=False, name=None)) == ROWS
    assert con.sql(SQL).pl().rows() == ROWS


def test_libraries_take_it_as_it_is(con: pinakes.Connection) -> None:
    assert pl.DataFrame(con.sql(SQL)).rows() == ROWS
    assert pd.DataFrame.from_arrow(con.sql(SQL))["name"].tolist() == ["n0", "n1", "n2"]
    assert pa.table(con.sql(SQL)) == con.sql(SQL).arrow()
    relation = con.sql(SQL)
    assert duckdb.sql("SELECT max(id), min(name) FROM relation").fetchall() == [(2, "n0")]
    assert relation.columns == ["id", "name"]


def test_columns_may_have_one_name(con: pinakes.Connection) -> None:
    sql = "SELECT ? AS a, 'x' AS a"
    cursor = con.cursor()
    cursor.execute(sql, (1,))
    assert [column[0] for column in cursor.description or ()] == ["a", "a"]
    assert cursor.fetchall() == [(1, "x")]
    for _ in range(2):  # the second plan is that of the cache
        relation = con.sql("SELECT 1 AS a, 'x' AS a")
        assert relation.columns == ["a", "a"]
        assert relation.arrow().schema.names == ["a", "a"]
        assert list(con.sql("SELECT 1 AS a, 'x' AS a").df().columns) == ["a", "a"]
    assert con.sql("EXPLAIN FULL SELECT 1 AS a, 'x' AS a").fetchall()


def test_a_query_runs_when_it_is_read(con: pinakes.Connection) -> None:
    relation = con.sql(SQL)
    assert last_state(con) == State.PLANNING
    relation.fetchall()
    assert last_state(con) == State.FINISHED


def test_a_wrong_query_fails_at_once(con: pinakes.Connection) -> None:
    with pytest.raises(pinakes.Error, match="does not exist"):
        con.sql("SELECT * FROM nowhere")


def test_any_other_statement_runs_at_once(con: pinakes.Connection) -> None:
    created = con.sql("CREATE TABLE t (a INT)")
    inserted = con.sql("INSERT INTO t VALUES (1), (2)")
    assert (created.rowcount, inserted.rowcount) == (-1, 2)
    assert (repr(created), repr(inserted)) == ("CREATE TABLE", "INSERT 2")
    assert (inserted.columns, inserted.fetchall()) == ([], [])
    assert con.sql("SELECT count(*) FROM t").fetchall() == [(2,)]
    assert con.sql("SHOW TABLES").fetchall()[0][0] == "t"


def test_rows_are_read_once(con: pinakes.Connection) -> None:
    for first in ("reader", "df", "pl", "fetchall"):
        relation = con.sql(SQL)
        read = getattr(relation, first)()
        if first == "reader":
            read.read_all()
        for again in (relation.arrow, relation.df, relation.pl, relation.fetchall, relation.reader().read_all):
            with pytest.raises(pinakes.ProgrammingError, match=r"were read already\. Call arrow\(\) first"):
                again()
        assert repr(relation) == "<pinakes.Relation [id, name]: its rows were read>"
        assert relation._repr_html_() == "<p>&lt;pinakes.Relation [id, name]: its rows were read&gt;</p>"


def test_arrow_keeps_the_rows(con: pinakes.Connection) -> None:
    relation = con.sql(SQL)
    kept = relation.arrow()
    assert relation.arrow() is kept
    assert relation.fetchall() == relation.fetchall() == relation.pl().rows() == ROWS
    assert relation.df()["id"].tolist() == [0, 1, 2]
    assert relation.reader().read_all() == kept


def test_a_stream_that_is_only_opened_takes_nothing(con: pinakes.Connection) -> None:
    relation = con.sql(SQL)
    first, second = relation.reader(), relation.reader()
    assert second.read_all().num_rows == 3
    with pytest.raises(pinakes.ProgrammingError, match="were read already"):
        first.read_all()


def test_looking_takes_nothing(con: pinakes.Connection, capsys: pytest.CaptureFixture[str]) -> None:
    relation = con.sql("SELECT value AS id FROM range(100000)")
    relation.show(rows=2)
    assert "(the first 2 rows; there are more)" in capsys.readouterr().out
    assert repr(relation).count("\n") == 40 + 5
    assert relation._repr_html_().count("<tr>") == 40 + 1
    assert relation.arrow().num_rows == 100_000
    assert repr(relation).count("\n") == 40 + 5


def test_a_result_streams(con: pinakes.Connection) -> None:
    """The first of very many rows come at once, and the rest is dropped."""
    relation = con.sql("SELECT value FROM range(100000000000)")
    assert relation.reader().read_next_batch().num_rows > 0
    relation.close()
    assert last_state(con) != State.RUNNING


def test_the_box(con: pinakes.Connection) -> None:
    relation = con.sql("SELECT 1 AS n, '日本' AS t, NULL AS x, 'a' || chr(27) || chr(10) AS c")
    assert repr(relation).split("\n") == [
        "┌────────┬─────────┬─────────┬─────────┐",
        "│ n      │ t       │ x       │ c       │",
        "│ bigint │ varchar │ unknown │ varchar │",
        "├────────┼─────────┼─────────┼─────────┤",
        "│      1 │ 日本    │ NULL    │ a\\x1b\\n │",
        "└────────┴─────────┴─────────┴─────────┘",
        "(1 row)",
    ]


def test_the_box_fits(con: pinakes.Connection, capsys: pytest.CaptureFixture[str]) -> None:
    con.sql("SELECT repeat('x', 500) AS a, repeat('日', 500) AS b, 1 AS c").show(width=60)
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) == 60
    assert sum("…" in line for line in lines) == 1


def test_html_is_escaped(con: pinakes.Connection) -> None:
    page = con.sql("SELECT '<b>&' AS \"<i>\", 1.5 AS n")._repr_html_()
    assert "<b>" not in page
    assert "&lt;b&gt;&amp;" in page
    assert re.search(r"<th>&lt;i&gt;<br><small[^>]*>varchar</small></th>", page)
    assert con.sql("CREATE TABLE t (a INT)")._repr_html_() == "<p>CREATE TABLE</p>"


def test_html_distinguishes_null_from_its_text(con: pinakes.Connection) -> None:
    page = con.sql("SELECT NULL AS a, 'NULL' AS b")._repr_html_()
    assert re.findall(r"<td[^>]*>(.*?)</td>", page) == ['<em style="opacity: 0.5">NULL</em>', "NULL"]


def test_html_is_bounded(con: pinakes.Connection) -> None:
    columns = ", ".join(f"repeat('x', 300) AS c{n}" for n in range(150))
    page = con.sql(f"SELECT {columns} FROM range(41)")._repr_html_()
    assert page.endswith("<p>(the first 40 rows; there are more) and 50 more columns</p>")
    assert (page.count("<th>"), page.count("<td")) == (100, 4000)
    assert len(page) < 4000 * 300


def test_both_views_come_in_one_go(con: pinakes.Connection) -> None:
    """IPython asks for all views at once; the query runs once for them."""
    bundle = con.sql(SQL)._repr_mimebundle_()
    assert list(bundle) == ["text/plain", "text/html"]
    broken = con.sql("SELECT 1 / (value - 1) AS a FROM range(2)")._repr_mimebundle_()
    assert broken["text/plain"] == "EXECUTION_ERROR: division by zero"
    assert broken["text/html"] == "<pre>EXECUTION_ERROR: division by zero</pre>"


def test_a_stream_that_broke_off_is_no_short_result(con: pinakes.Connection) -> None:
    """Rows that were looked at before the rest was closed, or failed, are not given out as if they were all."""
    relation = con.sql("SELECT value AS id FROM range(1000000)")
    relation.show()
    relation.close()
    for read in (relation.arrow, relation.df, relation.pl, relation.fetchall):
        with pytest.raises(
            pinakes.ProgrammingError, match=r"are not available any more: it was closed\. con\.sql\(…\) again"
        ):
            read()
    assert repr(relation) == "<pinakes.Relation [id]: it was closed>"


def test_what_is_kept_outlives_closing(con: pinakes.Connection) -> None:
    relation = con.sql(SQL)
    relation.arrow()
    relation.close()
    assert relation.fetchall() == ROWS


VALUES = {
    "CAST('1.50' AS DECIMAL(10, 2))": Decimal("1.50"),
    "DATE '2026-01-02'": dt.date(2026, 1, 2),
    "TIMESTAMP '2026-01-02 03:04:05.123456789'": dt.datetime(2026, 1, 2, 3, 4, 5, 123456),
    "arrow_cast('01:02:03.123456789', 'Time64(Nanosecond)')": dt.time(1, 2, 3, 123456),
    "arrow_cast(1001, 'Duration(Nanosecond)')": dt.timedelta(microseconds=1),
    "map(['a', 'b'], [1, NULL])": {"a": 1, "b": None},
    "named_struct('a', [TIMESTAMP '2026-01-02 03:04:05.123456789'])": {"a": [dt.datetime(2026, 1, 2, 3, 4, 5, 123456)]},
    "arrow_cast('x', 'Dictionary(Int32, Utf8)')": "x",
}


@pytest.mark.parametrize("expression", VALUES)
def test_values(expression: str, con: pinakes.Connection) -> None:
    assert con.sql(f"SELECT {expression} AS v").fetchall() == [(VALUES[expression],)]


def test_a_value_beyond_those_of_python(con: pinakes.Connection) -> None:
    relation = con.sql("SELECT arrow_cast(9000000000000000000, 'Timestamp(Microsecond, None)') AS far")
    with pytest.raises(pinakes.DataError, match=r"column 'far' .* Cast it to VARCHAR, or read it as Arrow"):
        relation.fetchall()


def test_rows_without_columns(con: pinakes.Connection) -> None:
    from pinakes.api.rows import rows_of

    nothing = pa.RecordBatch.from_struct_array(pa.array([{}, {}], pa.struct([])))
    assert list(rows_of([nothing])) == [(), ()]


@pytest.mark.parametrize(("library", "method"), [("pandas", "df"), ("polars", "pl")])
def test_a_missing_library_says_how_to_get_it(
    library: str, method: str, con: pinakes.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    monkeypatch.setattr("pinakes.api.extras.import_module", missing)
    with pytest.raises(pinakes.NotSupportedError, match=re.escape(f"{method}() needs {library}")) as caught:
        getattr(con.sql(SQL), method)()
    assert str(caught.value).endswith(f"pip install {library}")


def missing(name: str) -> None:
    raise ModuleNotFoundError(f"No module named {name!r}", name=name)


def test_a_view_fools_nobody(con: pinakes.Connection) -> None:
    """A text that reads NULL is none, what turns the direction of reading round is shown, numbers are whole."""
    rows = con.sql("SELECT 'NULL' AS a, NULL AS b, 'x' || chr(8238) AS c, 12345678901234567 AS d, repeat('y', 99) AS e")
    shown = rows._text(10, 70)
    assert '│ "NULL" ' in shown
    assert "│ NULL " in shown
    assert "x\\u202e" in shown
    assert "12345678901234567" in shown
    assert {len(line) for line in shown.splitlines()[:-1]} == {70}
