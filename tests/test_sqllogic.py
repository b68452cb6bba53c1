"""The runner of *.slt files: it reads, compares and completes; a wrong expectation fails."""

from __future__ import annotations

import shutil
from pathlib import Path
from types import SimpleNamespace

import pyarrow as pa
import pytest

from pinakes.core.errors import TableNotFound
from tests.sqllogic import Mismatch, Record, SltSyntaxError, check, completed, parse

pytest_plugins = ["pytester"]

TWO_ROWS = pa.table({"id": [2, 1], "name": ["b", None]})


def answer(table: pa.Table, count: int | None = None):
    return lambda sql: SimpleNamespace(read_all=lambda: table, count=count)


def fail(sql: str):
    raise TableNotFound("table t does not exist; available: u")


def only(text: str) -> Record:
    (record,) = parse(text)
    return record


def passes(text: str, run, tmp: str = "/nowhere") -> None:
    check(only(text), run, tmp, {})


def test_records_are_read_with_their_lines_and_connections() -> None:
    opening = "# why\nstatement ok\ncreate table t (\n  a int)\n\nconnection two user=alice\n"
    first, second = parse(opening + "query IT rowsort x\nselect 1\n----\n1\ta\n\nhalt\nrubbish\n")
    assert (first.line, first.kind, first.sql, first.connection) == (2, "ok", "create table t (\n  a int)", "")
    assert (second.line, second.types, second.sort, second.label) == (7, "IT", "rowsort", "x")
    assert (second.connection, second.user, second.rows) == ("two", "alice", ["1\ta"])


@pytest.mark.parametrize(
    "text",
    ["statment ok\nselect 1", "query Z\nselect 1", "statement ok\n\nselect 1", "statement count x\nselect 1",
     "statement ok\nselect 1\n----\n1", "query I rowsort a b\nselect 1", "statement perhaps\nselect 1"],
)  # fmt: skip
def test_a_file_out_of_form_is_refused(text: str) -> None:
    with pytest.raises(SltSyntaxError):
        parse(text)


def test_right_expectations_pass() -> None:
    passes("statement ok\nx", answer(TWO_ROWS))
    passes("statement count 3\nx", answer(TWO_ROWS, 3))
    passes("statement error TABLE_NOT_FOUND: table t\nx", fail)
    passes("query error /NOT_FOUND.*available: [u-z]/\nx", fail)
    passes("query IT\nx\n----\n2\tb\n1\tNULL", answer(TWO_ROWS))
    passes("query I? rowsort\nx\n----\n1\tNULL\n2\tb", answer(TWO_ROWS))
    passes("query IT valuesort\nx\n----\n1\n2\nNULL\nb", answer(TWO_ROWS))


@pytest.mark.parametrize(
    ("text", "run"),
    [
        ("statement ok\nx", fail),
        ("statement count 2\nx", answer(TWO_ROWS, 3)),
        ("statement error TABLE_NOT_FOUND\nx", answer(TWO_ROWS)),
        ("statement error VIEW_NOT_FOUND\nx", fail),
        ("statement error /^NOT_FOUND/\nx", fail),
        ("query IT\nx\n----\n1\tNULL\n2\tb", answer(TWO_ROWS)),
        ("query IT\nx\n----\n2\tb", answer(TWO_ROWS)),
        ("query IT\nx\n----\n2\tb\n1\t(empty)", answer(TWO_ROWS)),
        ("query I\nx\n----\n2\tb\n1\tNULL", answer(TWO_ROWS)),
        ("query TT\nx\n----\n2\tb\n1\tNULL", answer(TWO_ROWS)),
        ("query IT\nx", answer(TWO_ROWS)),
        ("query IT\nx\n----", fail),
    ],
)
def test_wrong_expectations_fail(text: str, run) -> None:
    with pytest.raises(Mismatch):
        passes(text, run)


def test_values_print_on_one_line() -> None:
    odd = pa.table({"a": ["", "x\ty\nz", "/tmp/abc/f"], "b": [True, False, None], "c": [1.0, 0.5, None]})
    text = "query TBR\nx\n----\n(empty)\ttrue\t1.0\nx\\ty\\nz\tfalse\t0.5\n${TMP}/f\tNULL\tNULL"
    passes(text, answer(odd), tmp="/tmp/abc")


def test_tmp_reaches_the_sql() -> None:
    seen: list[str] = []

    def run(sql: str):
        seen.append(sql)
        return answer(TWO_ROWS)(sql)

    passes("statement ok\nattach '${TMP}/x'", run, tmp="/tmp/abc")
    assert seen == ["attach '/tmp/abc/x'"]


def test_results_of_one_label_are_equal() -> None:
    labels: dict[str, list[str]] = {}
    record = only("query IT nosort same\nx\n----\n2\tb\n1\tNULL")
    check(record, answer(TWO_ROWS), "/nowhere", labels)
    with pytest.raises(Mismatch, match="same"):
        check(record, answer(TWO_ROWS.slice(1)), "/nowhere", labels)


def test_complete_writes_rows_and_types_and_nothing_else() -> None:
    text = "# first\nquery T rowsort\nselect\n----\nold\n\n\nstatement ok\nselect\n\nquery ??\nselect '${TMP}'\n"
    records = parse(text)
    for record in records:
        check(record, answer(TWO_ROWS), "/nowhere", {}, complete=True)
    done = completed(text, records)
    assert done == (
        "# first\nquery IT rowsort\nselect\n----\n1\tNULL\n2\tb\n\n\nstatement ok\nselect\n\n"
        "query ??\nselect '${TMP}'\n----\n2\tb\n1\tNULL\n"
    )
    for record in parse(done):
        check(record, answer(TWO_ROWS), "/nowhere", {})


def _project(pytester: pytest.Pytester, slt: str) -> None:
    """A project of its own with this repository's runner in it."""
    here = Path(__file__).parent
    for name in ("__init__.py", "conftest.py", "sqllogic.py", "sql/conftest.py"):
        target = pytester.path / "tests" / name
        target.parent.mkdir(exist_ok=True)
        target.write_text((here / name).read_text())
    shutil.copytree(here / "servers", pytester.path / "tests/servers", ignore=shutil.ignore_patterns("__pycache__"))
    (pytester.path / "tests/sql/case.slt").write_text(slt)
    pytester.makeini("[pytest]\npythonpath = .\naddopts = --import-mode=importlib")


WRONG = """\
query I
select 1
----
2

statement error DIVISION
select 1

connection other
query T
select 'fine'
----
fine
"""


@pytest.mark.slow
def test_a_wrong_file_fails_and_says_where(pytester: pytest.Pytester) -> None:
    _project(pytester, WRONG)
    run = pytester.runpytest_subprocess("tests/sql")
    run.assert_outcomes(passed=1, failed=2)
    run.stdout.fnmatch_lines(["*case.slt:1", "select 1", "expected 1 rows", "  2", "got 1 rows", "  1"])
    run.stdout.fnmatch_lines(["*case.slt:6", "expected an error with 'DIVISION'; it succeeded with 1 rows"])


@pytest.mark.slow
def test_one_record_alone_runs_after_those_before_it(pytester: pytest.Pytester) -> None:
    slt = "statement ok\ncreate table t (a bigint)\n\nquery I\nselect count(*) from t\n----\n0\n"
    _project(pytester, slt)
    pytester.runpytest_subprocess("tests/sql/case.slt::4").assert_outcomes(passed=1)


@pytest.mark.slow
def test_complete_rewrites_the_file(pytester: pytest.Pytester) -> None:
    _project(pytester, WRONG)
    pytester.runpytest_subprocess("tests/sql", "--complete").assert_outcomes(passed=2, failed=1)
    assert (pytester.path / "tests/sql/case.slt").read_text() == WRONG.replace("----\n2", "----\n1")
