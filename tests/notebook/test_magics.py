"""%sql and %%sql in a shell of IPython: what they show, where results go, which values they take."""

from __future__ import annotations

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from IPython.core.interactiveshell import InteractiveShell

import pinakes
from pinakes.api.relation import Relation
from pinakes.notebook.cell import STAY_OPEN
from tests.notebook.conftest import Run


def test_a_line(run: Run) -> None:
    assert run("%sql SELECT 1 AS a, 'x' AS b").value.fetchall() == [(1, "x")]
    assert run("%sql SELECT 1 AS a;").value.fetchall() == [(1,)]


def test_a_cell_of_several_statements_shows_each_and_gives_the_last(run: Run) -> None:
    ran = run("%%sql\nCREATE TABLE t (a INT);\nINSERT INTO t VALUES (1), (2);\n-- done\nSELECT * FROM t ORDER BY a;\n")
    assert [output.data["text/plain"] for output in ran.displayed] == ["CREATE TABLE", "INSERT 2"]
    assert ran.value.fetchall() == [(1,), (2,)]
    assert "(2 rows)" in ran.out


def test_a_change_shows_its_tag(run: Run) -> None:
    run("%sql CREATE TABLE t (a INT)")
    ran = run("%sql INSERT INTO t VALUES (1)")
    assert (repr(ran.value), ran.value.rowcount) == ("INSERT 1", 1)


@pytest.mark.parametrize(
    "cell",
    [
        "%%sql found << SELECT 7 AS a",
        "%%sql found <<\nSELECT 7 AS a",
        "%%sql --out found\nSELECT 7 AS a",
        "%sql found << SELECT 7 AS a",
        "%sql --out found SELECT 7 AS a",
        "%%sql found <<\nSELECT 1;\nSELECT 7 AS a",
        "found = %sql SELECT 7 AS a",
    ],
)
def test_a_result_goes_to_a_variable(run: Run, shell: InteractiveShell, cell: str) -> None:
    assert run(cell).value is None
    found = shell.user_ns["found"]
    assert isinstance(found, Relation)
    assert found.df()["a"].tolist() == [7]


def test_an_assigned_query_runs_when_it_is_read(run: Run, shell: InteractiveShell) -> None:
    run("%%sql broken << SELECT 10 / (value - 3) FROM range(5)")
    with pytest.raises(pinakes.DataError, match="division by zero"):
        shell.user_ns["broken"].df()


def test_variables_are_parameters_and_never_text(run: Run, shell: InteractiveShell) -> None:
    shell.user_ns.update(name="x'; DROP TABLE t; --", n=3, rows=[1, 2])
    assert run("%sql SELECT $name AS a, :n + 1 AS b, $rows AS c").value.fetchall() == [
        ("x'; DROP TABLE t; --", 4, [1, 2])
    ]
    assert run("%sql SELECT '$n {n}' AS a").value.fetchall() == [("$n {n}",)]


def test_locals_of_a_function_are_nearer(run: Run) -> None:
    cell = "n = 1\ndef f():\n    n, rows = 2, pl.DataFrame({'a': [5]})\n    return get_ipython().run_line_magic('sql', "
    run("import polars as pl")
    assert run(cell + "'SELECT $n AS n, a FROM rows')\nf()").value.fetchall() == [(2, 5)]


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("SELECT $nope", "parameter $nope has no value: there is no Python variable nope. Set it first: nope = …"),
        ("SELECT ?", "? and $1 have no value here: write $name"),
        ("SELECT $frame", "parameter frame: a DataFrame cannot be bound"),
    ],
)
def test_parameters_without_a_value(run: Run, shell: InteractiveShell, sql: str, message: str) -> None:
    shell.user_ns["frame"] = pd.DataFrame({"a": [1]})
    ran = run(f"%sql {sql}  -- a comment, since a line that ends in ? asks for help")
    assert not ran.result.success
    assert message in ran.out


def test_frames_are_tables(run: Run, shell: InteractiveShell) -> None:
    shell.user_ns.update(p=pd.DataFrame({"a": [1, 2]}), q=pl.DataFrame({"a": [2, 3]}), r=pa.table({"a": [2]}))
    assert run("%sql SELECT p.a FROM p JOIN q ON p.a = q.a JOIN r ON r.a = q.a").value.fetchall() == [(2,)]
    run("%%sql before <<\nSELECT 40 AS a UNION ALL SELECT 2")
    assert run("%sql SELECT sum(a) FROM before").value.fetchall() == [(42,)]


# --- errors ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        ("%sql SELECT * FROM nowhere", "TABLE_NOT_FOUND: table lake.default.nowhere does not exist"),
        ("%sql SELECT 1 / 0", "EXECUTION_ERROR: division by zero"),
        ("%sql", "INVALID_ARGUMENT: there is nothing to run.\nRun SQL with Pinakes."),
        ("%%sql a <<\n-- nothing", "INVALID_ARGUMENT: nothing to assign to a"),
        ("%sql --nope x", "INVALID_ARGUMENT: there is no option --nope; available: --connect, --connection, --out."),
        ("%sql --out", "INVALID_ARGUMENT: --out needs a name"),
        ("%sql class << SELECT 1", "INVALID_ARGUMENT: 'class' can't be the name of a Python variable"),
        ("%sql --connection pi", "INVALID_ARGUMENT: --connection has no value: there is no Python variable pi."),
        ("%sql --connection In", "INVALID_ARGUMENT: In is a list; --connection takes what pinakes.connect() gave"),
        ("%sql --connect colour=red", "SETTING_NOT_FOUND: setting 'colour' does not exist"),
        ("%sql --connect data=x --connection In", "INVALID_ARGUMENT: --connect opens a connection and --connection"),
    ],
)
def test_an_error_is_one_message(run: Run, cell: str, message: str) -> None:
    ran = run(cell)
    assert isinstance(ran.result.error_in_exec, pinakes.Error)
    assert ran.out.startswith(message)
    assert "Traceback" not in ran.out + ran.err


def test_positions_are_those_of_the_cell(run: Run) -> None:
    ran = run("%%sql\nSELECT 1 AS a;\n\nSELECT 2 FRM;\n  SELECT 3 3 3\n")
    assert "(line 5, column 12)" in ran.out
    assert [output.data["text/plain"].splitlines()[1] for output in ran.displayed] == ["│ a      │", "│ frm    │"]


def test_a_query_that_breaks_off_is_no_short_result(run: Run, shell: InteractiveShell) -> None:
    """Its first rows came through before a later one failed."""
    shell.user_ns["con"] = con = pinakes.connect(data=":memory:", batch_size=10, target_partitions=1)
    relation = con.sql("SELECT 10 / (value - 25) AS a FROM range(100)")
    ran = run("con.sql('SELECT 10 / (value - 25) AS a FROM range(100)')")
    assert ran.out.count("EXECUTION_ERROR: division by zero") == 1
    assert "Traceback" not in ran.out + ran.err
    with pytest.raises(pinakes.DataError):
        relation.show()
    with pytest.raises(pinakes.ProgrammingError, match="are not available any more: reading it has failed"):
        relation.df()
    assert "reading it has failed" in repr(relation)
    con.close()


# --- connections -------------------------------------------------------------------------------------------------


def test_a_connection_of_ones_own(run: Run, shell: InteractiveShell) -> None:
    with pinakes.connect(data=":memory:") as con:
        con.execute("CREATE TABLE mine AS SELECT 5 AS a")
        shell.user_ns["con"] = con
        assert run("%sql --connection con").value is con
        assert run("%sql SELECT a FROM mine").value.fetchall() == [(5,)]
        run("%sql --connect data=:memory:")
        assert con.execute("SELECT 1").fetchone() == (1,)


def test_connect_with_arguments(run: Run, shell: InteractiveShell, tmp_path) -> None:
    shell.user_ns.update(who="ada", secret="hidden")
    first = run("%sql --connect data=:memory:").value
    command = f"%sql --connect data='{tmp_path / 'a lake'}' user=$who token=$secret time_zone=Asia/Tokyo"
    second = run(f"{command} SELECT current_user AS u").value
    assert second.fetchall() == [("ada",)]
    assert run("%sql SHOW time_zone").value.fetchall() == [("Asia/Tokyo",)]
    with pytest.raises(pinakes.ProgrammingError, match="was closed"):
        first.execute("SELECT 1")


# --- what stays open ---------------------------------------------------------------------------------------------


def test_what_is_seen_whole_can_be_read_again_and_again(run: Run) -> None:
    small = run("%sql SELECT value FROM range(40)").value
    assert len(small.fetchall()) == len(small.fetchall()) == 40


def test_only_the_last_few_of_the_large_stay_open(run: Run) -> None:
    shown = [run("%sql SELECT value FROM range(1000000)").value for _ in range(STAY_OPEN + 2)]
    for old in shown[:2]:
        with pytest.raises(pinakes.ProgrammingError, match="the rows not seen were let go of"):
            old.arrow()
    assert {len(one.df()) for one in shown[2:]} == {1_000_000}


def test_what_was_read_stays(run: Run) -> None:
    kept = run("%sql SELECT value FROM range(1000)").value
    kept.arrow()
    for _ in range(STAY_OPEN + 2):
        run("%sql SELECT value FROM range(1000)")
    assert len(kept.df()) == 1000


def test_warnings_are_shown_each_time(run: Run, shell: InteractiveShell) -> None:
    con = pinakes.connect(data=":memory:")
    shell.user_ns["con"] = con
    run("%sql --connection con")
    for _ in range(2):
        con.session.warnings.append("something to know")
        assert run("%sql SELECT 1").err == "warning: something to know\n"
    con.close()


def test_loading_twice_and_unloading(run: Run, shell: InteractiveShell) -> None:
    first = run("%sql --connect data=:memory:").value
    run("%reload_ext pinakes")
    run("%load_ext pinakes")
    assert len([m for m in shell.Completer.custom_matchers if "pinakes" in m.matcher_identifier]) == 1
    with pytest.raises(pinakes.ProgrammingError, match="was closed"):
        first.execute("SELECT 1")
    run("%unload_ext pinakes")
    assert "Line magic function `%sql` not found" in run("%sql SELECT 1").err
    run("%load_ext pinakes")
