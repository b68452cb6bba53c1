"""Data of Python as tables: registered, found by variable name, appended."""

from __future__ import annotations

import gc
import threading
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as pds
import pyarrow.parquet as pq
import pytest

import pinakes

TABLE = pa.table({"id": [1, 2, 3], "Name": ["a", "b", None]})
ROWS = [(1, "a"), (2, "b"), (3, None)]
everywhere = pa.table({"g": [1]})


def forms(tmp_path: Path) -> dict[str, Any]:
    pq.write_table(TABLE, tmp_path / "t.parquet")
    return {
        "table": TABLE,
        "batch": TABLE.to_batches()[0],
        "dataset": pds.dataset(tmp_path),
        "pandas": TABLE.to_pandas(),
        "polars": pl.DataFrame(TABLE),
        "lazy": pl.DataFrame(TABLE).lazy(),
        "duckdb": duckdb.from_arrow(TABLE),
        "reader": TABLE.to_reader(),
    }


FORMS = ["table", "batch", "dataset", "pandas", "polars", "lazy", "duckdb", "reader"]


@pytest.mark.parametrize("form", FORMS)
def test_register(form: str, con: pinakes.Connection, tmp_path: Path) -> None:
    con.register("data", forms(tmp_path)[form])
    assert con.sql("SELECT id, name FROM data WHERE id < 3 ORDER BY id").fetchall() == ROWS[:2]
    if form == "reader":
        with pytest.raises(pinakes.ProgrammingError, match="this stream was read already"):
            con.sql("SELECT * FROM data").fetchall()
    else:
        assert con.sql("SELECT count(*), count(Name) FROM Data").fetchall() == [(3, 2)]
    if form not in ("reader", "duckdb"):  # a connection of DuckDB has one open stream at a time
        assert con.sql("SELECT a.id FROM data a JOIN data b ON a.id = b.id + 2").fetchall() == [(3,)]
    con.unregister("data")
    with pytest.raises(pinakes.ProgrammingError, match="does not exist"):
        con.sql("SELECT * FROM data")


def test_the_fields_of_a_struct_that_is_null_are_null(con: pinakes.Connection) -> None:
    inner = pa.StructArray.from_arrays([pa.array(["a", "hidden", "c"])], ["name"], mask=pa.array([False, True, False]))
    plain, large = pa.list_(inner.type), pa.large_list(inner.type)
    maps = pa.MapArray.from_arrays(pa.array([0, 1, 2, 3]), pa.array(["k"] * 3), inner)
    columns = {
        "s": inner,
        "l": pa.ListArray.from_arrays(pa.array([0, 1, 2, 3]), inner, type=plain),
        "g": pa.LargeListArray.from_arrays(pa.array([0, 1, 2, 3]), inner, type=large),
        "m": maps,
        "d": pa.StructArray.from_arrays([inner], ["inner"]),
    }
    table = pa.table({"id": [1, 2, 3], **columns})
    sql = "SELECT id, d.s.name, d.l[1].name, d.g[1].name, d.m['k'].name, d.d.inner.name FROM d ORDER BY id"
    for data in (table, table.slice(1), table.to_reader(), pds.dataset(table)):
        con.register("d", data)
        expected = [(i, *[name] * 5) for i, name in ((1, "a"), (2, None), (3, "c"))]
        assert con.sql(sql).fetchall() == expected[-(getattr(data, "num_rows", 3)) :]


@pytest.mark.parametrize("form", FORMS)
def test_a_variable_is_found_by_its_name(form: str, con: pinakes.Connection, tmp_path: Path) -> None:
    myData = forms(tmp_path)[form]  # noqa: F841 - read by the query
    assert con.sql("SELECT id, name FROM myData ORDER BY id").fetchall() == ROWS


def test_a_relation_is_a_table_too(con: pinakes.Connection) -> None:
    first = con.sql("SELECT value AS v FROM range(100000)")
    assert first.columns == ["v"]
    assert con.sql("SELECT count(*), sum(v) FROM first").fetchall() == [(100_000, 4_999_950_000)]


def test_whose_variables_are_seen(con: pinakes.Connection) -> None:
    local = pa.table({"l": [1]})  # noqa: F841 - read by the query

    def inner() -> pinakes.Relation:
        return con.sql("SELECT * FROM local")

    assert con.execute("SELECT * FROM local").fetchall() == [(1,)]
    assert con.cursor().execute("SELECT * FROM local, everywhere").fetchall() == [(1, 1)]
    with pytest.raises(pinakes.ProgrammingError, match="does not exist"):
        inner()


def test_what_is_no_table_is_not_found(con: pinakes.Connection) -> None:
    number, kind = 5, pa.Table  # noqa: F841 - read by the query
    for name in ("number", "kind", "nothing", "lake.number"):
        with pytest.raises(pinakes.ProgrammingError, match=r"does not exist"):
            con.sql(f"SELECT * FROM {name}")
    series = pl.Series([1, 2])  # noqa: F841 - a stream, and no table
    with pytest.raises(pinakes.ProgrammingError, match="the variable series, a Series, cannot be read as a table"):
        con.sql("SELECT * FROM series")


def test_a_table_of_the_catalog_comes_before_a_variable(con: pinakes.Connection) -> None:
    con.execute("CREATE TABLE t AS SELECT 'catalog' AS origin")
    t = pa.table({"origin": ["variable"]})
    assert con.sql("SELECT origin FROM t").fetchall() == [("catalog",)]
    con.register("t", t)
    assert con.sql("SELECT origin FROM t").fetchall() == [("variable",)]
    assert con.sql("SELECT origin FROM default.t").fetchall() == [("catalog",)]


def test_variables_can_be_turned_off(con: pinakes.Connection) -> None:
    data = pa.table({"a": [1]})  # noqa: F841 - read by the query
    con.execute("SET python_scan = off")
    with pytest.raises(pinakes.ProgrammingError, match="does not exist"):
        con.sql("SELECT * FROM data")
    con.execute("RESET python_scan")
    assert con.sql("SELECT * FROM data").fetchall() == [(1,)]


def test_a_result_does_not_keep_the_callers_variables(con: pinakes.Connection) -> None:
    class Bystander:
        pass

    def ask() -> tuple[pinakes.Relation, weakref.ref[Bystander]]:
        data, bystander = pa.table({"a": [1]}), Bystander()  # noqa: F841 - read by the query
        return con.sql("SELECT * FROM data"), weakref.ref(bystander)

    relation, bystander = ask()
    gc.collect()
    assert bystander() is None
    assert relation.fetchall() == [(1,)]


def test_changes_read_variables(con: pinakes.Connection) -> None:
    con.execute("CREATE TABLE t (id BIGINT, name VARCHAR)")
    new = TABLE.rename_columns(["id", "name"])  # noqa: F841 - read by the statements
    con.execute("INSERT INTO t SELECT id, name FROM new WHERE id < 3")
    con.execute(
        "MERGE INTO t USING new ON t.id = new.id WHEN MATCHED THEN UPDATE SET name = upper(new.name) "
        "WHEN NOT MATCHED THEN INSERT VALUES (new.id, 'new')"
    )
    con.execute("CREATE TABLE copy AS SELECT * FROM t WHERE id IN (SELECT id FROM new)")
    assert con.sql("SELECT * FROM copy ORDER BY id").fetchall() == [(1, "A"), (2, "B"), (3, "new")]


def test_a_temporary_relation_can_only_be_read(con: pinakes.Connection) -> None:
    con.execute("CREATE TABLE t (id BIGINT)")
    con.register("t", TABLE)
    for sql in (
        "INSERT INTO t VALUES (1)", "DELETE FROM t", "DROP TABLE t", "DROP TABLE IF EXISTS t", "TRUNCATE TABLE t",
        "ALTER TABLE t ADD COLUMN x INT", "CREATE TABLE t (a INT)",
    ):  # fmt: skip
        with pytest.raises(pinakes.ProgrammingError, match=r"can only be read; write lake\.default\.t"):
            con.execute(sql)
    con.execute("INSERT INTO default.t SELECT id FROM t")
    assert con.sql("SELECT count(*) FROM lake.default.t").fetchall() == [(3,)]
    assert con.sql("DESCRIBE t").fetchall() == [("id", "bigint", "", ""), ("Name", "varchar", "", "")]


def test_a_view_does_not_read_what_only_the_session_has(con: pinakes.Connection) -> None:
    variable = TABLE  # noqa: F841 - read by the statement
    con.register("mine", TABLE)
    for name in ("mine", "variable"):
        with pytest.raises(pinakes.ProgrammingError, match=f"{name} is a temporary relation of this session: a view"):
            con.execute(f"CREATE VIEW v AS SELECT * FROM {name}")
    con.execute("CREATE TABLE t AS SELECT 'catalog' AS origin")
    con.execute("CREATE VIEW v AS SELECT * FROM t")
    con.register("t", pa.table({"origin": ["session"]}))
    assert con.sql("SELECT * FROM v").fetchall() == [("catalog",)]
    con.execute("DROP TABLE default.t")
    with pytest.raises(pinakes.ProgrammingError, match="does not exist"):
        con.sql("SELECT * FROM v")


def test_what_is_registered_belongs_to_the_connection(tmp_path: Path) -> None:
    with pinakes.connect(data=tmp_path) as one, pinakes.connect(data=tmp_path) as other:
        one.register("mine", TABLE)
        with pytest.raises(pinakes.ProgrammingError, match="does not exist"):
            other.sql("SELECT * FROM mine")


def test_what_can_not_be_registered(con: pinakes.Connection) -> None:
    with pytest.raises(pinakes.ProgrammingError, match='the data for "x" is a list, which is not a table'):
        con.register("x", [1])
    with pytest.raises(pinakes.ProgrammingError, match="cannot be read as a table"):
        con.register("x", pd.DataFrame({"a": [1, "x", object()]}))
    with pytest.raises(pinakes.ProgrammingError, match="needs a name"):
        con.register("", TABLE)
    con.register("y", TABLE)
    with pytest.raises(pinakes.ProgrammingError, match='nothing is registered as "x"; available: y'):
        con.unregister("x")


def test_odd_tables(con: pinakes.Connection) -> None:
    con.register("none", TABLE.slice(0, 0))
    assert con.sql("SELECT * FROM none").fetchall() == []
    indexed = pd.DataFrame({"a": [1, 2, 3]})[1:].set_index(pd.Index(["x", "y"]))
    con.register("indexed", indexed)
    assert con.sql("SELECT * FROM indexed").columns == ["a"]  # an index is no column
    con.register("chunked", pa.concat_tables([TABLE, TABLE]))
    assert con.sql("SELECT count(*) FROM chunked").fetchall() == [(6,)]
    con.register("Ä b", TABLE)
    assert con.sql('SELECT count(*) FROM "Ä b"').fetchall() == [(3,)]


# --- append ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMS)
def test_append(form: str, con: pinakes.Connection, tmp_path: Path) -> None:
    con.execute("CREATE TABLE t (name VARCHAR, more INT, id BIGINT)")
    assert con.append("t", forms(tmp_path)[form]) == 3
    assert con.sql("SELECT id, name FROM t WHERE more IS NULL ORDER BY id").fetchall() == ROWS


def test_append_by_any_name(con: pinakes.Connection) -> None:
    con.execute('CREATE TABLE "Odd ""One" (id BIGINT)')
    for name in ('"Odd ""One"', 'default."Odd ""One"', 'lake.default."Odd ""One"'):
        assert con.append(name, pa.table({"id": [1]})) == 1
    assert con.sql('SELECT count(*) FROM "Odd ""One"').fetchall() == [(3,)]


def test_append_says_what_does_not_fit(con: pinakes.Connection) -> None:
    con.execute("CREATE TABLE t (id BIGINT NOT NULL, name VARCHAR)")
    wrong: list[tuple[str, Any, type[pinakes.Error], str]] = [
        ("nowhere", TABLE, pinakes.ProgrammingError, "nowhere does not exist"),
        ("t (id) SELECT 1 --", TABLE, pinakes.ProgrammingError, "expected one name and nothing else"),
        ("t; DROP TABLE t", TABLE, pinakes.ProgrammingError, "expected one name and nothing else"),
        ("", TABLE, pinakes.ProgrammingError, "expected the name of a table"),
        ("t", pa.table({"id": [1], "x": [1]}), pinakes.ProgrammingError, "column x does not exist"),
        ("t", pa.table({"id": ["x"]}), pinakes.DataError, "x"),
        ("t", pa.table({"id": pa.array([None], pa.int64())}), pinakes.IntegrityError, "NOT NULL"),
        ("t", {"id": [1]}, pinakes.ProgrammingError, "the data is a dict, which is not a table"),
    ]
    for table, data, kind, message in wrong:
        with pytest.raises(kind, match=message):
            con.append(table, data)
    assert con.sql("SELECT count(*) FROM t").fetchall() == [(0,)]


def test_append_from_many_threads(con: pinakes.Connection) -> None:
    con.execute("CREATE TABLE t (id BIGINT, thread BIGINT)")
    failures: list[BaseException] = []

    def work(number: int) -> None:
        try:
            con.append("t", pa.table({"id": [1, 2], "thread": [number, number]}))
        except BaseException as error:  # noqa: BLE001 - shown below
            failures.append(error)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert con.sql("SELECT count(*), count(DISTINCT thread) FROM t").fetchall() == [(12, 6)]


# --- CREATE TEMP -------------------------------------------------------------------------------------------------


def test_a_temporary_view_reads_what_the_session_has(con: pinakes.Connection, tmp_path: Path) -> None:
    variable = TABLE  # noqa: F841 - read by the statement
    pq.write_table(TABLE, tmp_path / "t.parquet")
    con.register("mine", TABLE)
    con.execute("CREATE TEMP VIEW v AS SELECT count(*) AS n FROM mine")
    con.execute(f"CREATE TEMP VIEW f AS SELECT id FROM '{tmp_path}/t.parquet'")
    assert con.sql("SELECT n FROM v").fetchall() == [(3,)]
    assert con.sql("SELECT sum(id) FROM f").fetchall() == [(6,)]
    with pytest.raises(pinakes.ProgrammingError, match="variable is a Python variable: a view, which outlives it"):
        con.execute("CREATE TEMP VIEW w AS SELECT * FROM variable")
    con.unregister("mine")
    with pytest.raises(pinakes.ProgrammingError, match="does not exist"):
        con.sql("SELECT n FROM v")


def test_registered_data_comes_before_a_temporary_table(con: pinakes.Connection) -> None:
    con.register("t", TABLE)
    with pytest.raises(pinakes.ProgrammingError, match=r"can only be read; write temp\.main\.t"):
        con.execute("CREATE TEMP TABLE t (a INT)")
    con.execute("CREATE TEMP TABLE temp.t AS SELECT 'temporary' AS origin")
    assert con.sql("SELECT count(*) FROM t").fetchall() == [(3,)]
    with pytest.raises(pinakes.ProgrammingError, match=r"can only be read; write temp\.main\.t"):
        con.execute("DROP TABLE t")
    con.unregister("t")
    assert con.sql("SELECT origin FROM t").fetchall() == [("temporary",)]
    assert con.append("t", pa.table({"origin": ["more"]})) == 1


def test_temporary_tables_belong_to_the_connection(tmp_path: Path) -> None:
    with pinakes.connect(data=tmp_path) as one, pinakes.connect(data=tmp_path) as other:
        one.execute("CREATE TEMP TABLE mine AS SELECT 1 AS a")
        for name in ("mine", "temp.mine", "temp.main.mine"):
            with pytest.raises(pinakes.ProgrammingError, match=r"mine does not exist; [a-z.]+ has: none"):
                other.sql(f"SELECT * FROM {name}")
        assert other.sql("SHOW TABLES").fetchall() == []


# --- streams that fail ---------------------------------------------------------------------------------------------


class Failing:
    """A stream of somebody else's that breaks off."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        def batches() -> Iterator[pa.RecordBatch]:
            yield pa.record_batch({"a": [1]})
            raise ValueError("the tape is torn")

        return pa.RecordBatchReader.from_batches(pa.schema([("a", pa.int64())]), batches()).__arrow_c_stream__()


def test_the_error_of_a_stream_is_one_line(con: pinakes.Connection) -> None:
    con.register("torn", Failing())
    with pytest.raises(pinakes.Error, match="the tape is torn") as caught:
        con.sql("SELECT * FROM torn").fetchall()
    assert "Traceback" not in str(caught.value)


def test_a_relation_that_was_read_says_so_in_another_query(con: pinakes.Connection) -> None:
    rows = con.sql("SELECT 1 AS a")  # noqa: F841 - it is found by its name
    assert con.sql("SELECT a FROM rows").fetchall() == [(1,)]
    with pytest.raises(pinakes.ProgrammingError, match=r"^the rows of this relation were read already"):
        con.sql("SELECT a FROM rows").fetchall()


def test_a_reader_is_read_once_also_by_its_name(con: pinakes.Connection) -> None:
    """Arrow gives a reader that was read for an empty one: the rows would be wrong."""
    reader = pa.table({"a": [1]}).to_reader()  # noqa: F841
    assert con.sql("SELECT a FROM reader").fetchall() == [(1,)]
    with pytest.raises(pinakes.ProgrammingError, match="this stream was read already"):
        con.sql("SELECT a FROM reader")


def test_two_columns_of_one_name_are_refused(con: pinakes.Connection) -> None:
    twice = pa.table([pa.array([1]), pa.array([2])], names=["a", "a"])
    with pytest.raises(pinakes.ProgrammingError, match="has more than one column of the name 'a'"):
        con.register("t", twice)
    with pytest.raises(pinakes.ProgrammingError, match="the variable twice has more than one column of the name 'a'"):
        con.sql("SELECT * FROM twice")
