"""The command as a user meets it: arguments, streams, exit codes, scripts."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from pinakes import __version__
from tests.cli.conftest import Cli

pytestmark = pytest.mark.slow

SEED = """\
ATTACH '{dir}' AS local (TYPE sqlite);
CREATE SCHEMA local.tutorial;
CREATE TABLE local.tutorial.events (id BIGINT, ts TIMESTAMP);
INSERT INTO local.tutorial.events VALUES (1, NOW());
SELECT * FROM local.tutorial.events;
"""


def test_version_and_help(cli: Cli) -> None:
    assert cli("--version").stdout == f"pinakes {__version__}\n"
    assert "--format" in cli("--help").stdout


def test_a_statement_prints_a_table(anywhere: Cli) -> None:
    done = anywhere("-c", "select 1 as a, 'x' as b")
    assert done.returncode == 0
    assert done.stdout == "┌───┬───┐\n│ a │ b │\n├───┼───┤\n│ 1 │ x │\n└───┴───┘\n(1 row)\n"
    assert done.stderr == ""


def test_the_seeds_loop_runs_as_written(anywhere: Cli, tmp_path: Path) -> None:
    done = anywhere("-c", SEED.format(dir=tmp_path / "some dir"), "--format", "jsonl")
    assert done.returncode == 0, done.stderr
    (row,) = map(json.loads, done.stdout.splitlines())
    assert row["id"] == 1
    assert row["ts"][10] == "T"
    assert done.stderr.splitlines() == ["ATTACH", "CREATE SCHEMA", "CREATE TABLE", "INSERT 1"]


@pytest.mark.slow
def test_data_stays_in_its_directory(cli: Cli) -> None:
    assert cli("--data", "kept", "-c", "create table t (a bigint); insert into t values (7)").returncode == 0
    done = cli("--data", "kept", "--format", "csv", "-c", "select * from t")
    assert (done.stdout, done.stderr) == ("a\n7\n", "")


@pytest.mark.slow
def test_memory_leaves_nothing_behind(cli: Cli, tmp_path: Path, env: dict[str, str]) -> None:
    (tmp_path / "scratch").mkdir()
    env["TMPDIR"] = str(tmp_path / "scratch")
    assert cli("-c", "create table t (a bigint); insert into t values (1)").returncode == 0
    assert list((tmp_path / "scratch").iterdir()) == []


@pytest.mark.slow
def test_machine_formats_put_rows_alone_on_stdout(cli: Cli) -> None:
    sql = "create table t (a bigint, b varchar); insert into t values (1, 'x'), (2, null); select * from t order by a"
    rows = {
        "csv": "a,b\n1,x\n2,\n",
        "tsv": "a\tb\n1\tx\n2\t\n",
        "json": '[{"a":1,"b":"x"},{"a":2,"b":null}]\n',
        "jsonl": '{"a":1,"b":"x"}\n{"a":2,"b":null}\n',
    }
    for name, expected in rows.items():
        done = cli("--format", name, "-c", sql)
        assert done.stdout == expected
        assert done.stderr == "CREATE TABLE\nINSERT 2\n"


@pytest.mark.slow
def test_several_results_follow_each_other(anywhere: Cli) -> None:
    given = ("-c", "select 1 a; select 2 b", "-c", "select 3 c where false")
    assert anywhere("--format", "csv", *given).stdout == "a\n1\nb\n2\nc\n"
    assert anywhere("--format", "json", *given).stdout == '[{"a":1}]\n[{"b":2}]\n[]\n'


def test_commands_and_files_run_in_the_order_given(anywhere: Cli, tmp_path: Path) -> None:
    (tmp_path / "two.sql").write_text("select 2 x;\n")
    done = anywhere("--format", "jsonl", "-c", "select 1 x", "-f", "two.sql", "-c", "select 3 x")
    assert done.stdout == '{"x":1}\n{"x":2}\n{"x":3}\n'


@pytest.mark.parametrize("arguments", [(), ("-f", "-")])
def test_a_script_from_stdin(anywhere: Cli, arguments: tuple[str, ...]) -> None:
    done = anywhere("--format", "csv", *arguments, input="select 1 a;\nselect 'ü;' b; -- the end")
    assert (done.returncode, done.stdout) == (0, "a\n1\nb\nü;\n")


def test_nothing_to_run_is_fine(anywhere: Cli) -> None:
    done = anywhere("-c", " ; -- nothing\n;")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_broken_script_stops_and_says_its_line(anywhere: Cli, tmp_path: Path) -> None:
    (tmp_path / "broken.sql").write_text("select 1 a;\n\n  select *\n  from nowhere.there;\nselect 2 b;\n")
    done = anywhere("--format", "csv", "-f", "broken.sql", "-c", "select 3 c")
    assert done.returncode == 1
    assert done.stdout == "a\n1\n"
    assert done.stderr.startswith("broken.sql:3: ")
    assert "_NOT_FOUND: " in done.stderr
    assert "Traceback" not in done.stderr


def test_positions_are_the_scripts_own(anywhere: Cli) -> None:
    done = anywhere(input="select 1;\n  select 2; create table ;\n")
    assert done.returncode == 1
    assert done.stderr.startswith("<stdin>:2: PARSE_ERROR: ")
    assert "(line 2, column 25)" in done.stderr.splitlines()[0]


def test_an_open_quote_fails_after_the_statements_before_it(anywhere: Cli) -> None:
    done = anywhere("--format", "csv", input="select 1 a;\nselect 'open")
    assert (done.returncode, done.stdout) == (1, "a\n1\n")
    assert done.stderr.startswith("<stdin>:2: PARSE_ERROR: ")


def test_an_error_while_rows_stream_is_an_error(anywhere: Cli) -> None:
    done = anywhere("--format", "csv", "-c", "select 10 / (value - 3) as x from generate_series(1, 5)")
    assert done.returncode == 1
    assert "EXECUTION_ERROR: " in done.stderr
    assert "Traceback" not in done.stderr


def test_a_secret_is_not_in_an_error(anywhere: Cli) -> None:
    done = anywhere("-c", "create secret s (type bearer, token 'hunter2'")
    assert done.returncode == 1
    assert "hunter2" not in done.stderr + done.stdout


@pytest.mark.parametrize(
    "arguments",
    [
        ("--nope",),
        ("--format", "xml"),
        ("stray",),
        ("-f", "missing.sql"),
        ("-f", "."),
        ("-f", "latin1.sql"),
        ("--config", "missing.toml"),
        ("--config", "bad.toml"),
        ("--data", ""),
    ],
)
def test_wrong_usage_is_2_and_nothing_runs(cli: Cli, tmp_path: Path, arguments: tuple[str, ...]) -> None:
    (tmp_path / "bad.toml").write_text("[engine]\nnope = 1\n")
    (tmp_path / "latin1.sql").write_bytes(b"select '\xe4'")
    done = cli("-c", "select 1", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert "pinakes: " in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_a_data_directory_that_is_a_file_is_one_line(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    done = cli("--data", "file", "-c", "create table t (a bigint)")
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_the_configuration_mounts_catalogs(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "my.toml").write_text(f"[catalogs.sales]\ntype = 'sqlite'\nlocation = '{tmp_path / 'sales'}'\n")
    done = cli("--config", "my.toml", "--format", "csv", "-c", "show catalogs")
    assert done.stdout.splitlines()[1:] == ["lake", "sales", "system"]


@pytest.mark.slow
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_cancels_and_cleans_up(
    tmp_path: Path, env: dict[str, str], where: tuple[str, ...], number: int, code: int
) -> None:
    (tmp_path / "scratch").mkdir()
    env["TMPDIR"] = str(tmp_path / "scratch")
    sql = "select 'begun' as x; select count(*) from generate_series(1, 1000000) a, generate_series(1, 1000000) b"
    command = [sys.executable, "-m", "pinakes", *where, "--format", "csv", "-c", sql]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=tmp_path, env=env) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert [process.stdout.readline(), process.stdout.readline()] == [b"x\n", b"begun\n"]
        process.send_signal(number)
        assert b"Traceback" not in process.stderr.read()
        assert process.wait(180) == code
    assert list((tmp_path / "scratch").iterdir()) == []


def test_files_are_views_with_their_names(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "more").mkdir()
    (tmp_path / "customers.csv").write_text("id,name\n1,ann\n2,o'neil\n")
    (tmp_path / "more" / "customers.csv").write_text("id,name\n3,bob\n")
    (tmp_path / "Order lines.jsonl").write_text('{"id": 1, "user": {"name": "ann"}}\n')
    given = ("customers.csv", "more/customers.csv", "Order lines.jsonl", "more/*.csv")
    done = cli("--format", "csv", *given, "-c", "select name from customers order by id")
    assert (done.returncode, done.stdout) == (0, "name\nann\no'neil\n")
    assert done.stderr == ""
    both = """select l."user".name, c.name as n from "Order lines" l, customers_2 c
        union all select name, name from data order by 1"""
    done = cli("--format", "csv", *given, input=both)
    assert done.stdout == "name,n\nann,bob\nbob,bob\n"


@pytest.mark.parametrize(
    ("argument", "said"),
    [
        ("none.csv", "file 'none.csv' does not exist"),
        ("shop.duckdb", "'shop.duckdb' is a database, not a file of rows"),
        (".", "'.' is a directory: `pinakes --data .` opens the catalog in it"),
        ("notes.txt", "the ending of 'notes.txt' does not say what is in it"),
        ("docter", "unknown command 'docter'. Did you mean doctor?"),
    ],
)
def test_an_argument_that_is_no_file_of_rows(cli: Cli, tmp_path: Path, argument: str, said: str) -> None:
    (tmp_path / "notes.txt").write_text("a,b\n")
    done = cli(argument, "-c", "select 1")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"pinakes: {said}")


def test_a_file_that_can_not_be_read(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "bad.parquet").write_text("not parquet")
    done = cli("bad.parquet", "-c", "select 1")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("DATA_CORRUPT: ")
