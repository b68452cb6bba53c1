"""The backslash commands: each does what its help says, in the shell and in scripts, and is documented."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path

import pytest

from pinakes.cli.commands import COMMANDS
from pinakes.cli.commands.table import help_text
from pinakes.cli.console import Console
from pinakes.cli.runner import Runner
from pinakes.cli.script import run_script
from pinakes.cli.steps import Script
from tests.cli.conftest import Cli
from tests.cli.seats import SEATS, seated

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture(params=SEATS)
def runner(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Runner]:
    monkeypatch.chdir(tmp_path)
    with seated(request.param, tmp_path) as backend:
        yield Runner(backend, Console("csv", io.StringIO(), io.StringIO()))


def ran(runner: Runner, text: str, *, fine: bool = True) -> tuple[str, str]:
    """What a script prints: rows, and what is said about them."""
    out, err = io.StringIO(), io.StringIO()
    runner.console.out, runner.console.err = out, err
    assert run_script(Script(text), runner) is fine, err.getvalue()
    return out.getvalue(), err.getvalue()


TABLES = "create table orders (id bigint); create view big as select id from orders; create schema sales;\n"


def test_what_there_is(runner: Runner) -> None:
    ran(runner, TABLES + "create table sales.regions (r bigint); create temp table mine (a bigint)")
    assert ran(runner, "\\dt")[0] == "Namespace,Name,Type\nlake.default,orders,table\ntemp.main,mine,table\n"
    assert ran(runner, "\\dv")[0] == "Namespace,Name,Type\nlake.default,big,view\n"
    assert ran(runner, "\\dt lake.sales.r*")[0] == "Namespace,Name,Type\nlake.sales,regions,table\n"
    assert ran(runner, "\\dt sales.*;")[0] == "Namespace,Name,Type\nlake.sales,regions,table\n"
    assert ran(runner, "\\dt nothing*")[0] == "Namespace,Name,Type\n"
    assert ran(runner, "\\d orders")[0].splitlines()[1].startswith("id,bigint")
    assert ran(runner, "\\dn")[0] == "Schema\ndefault\ninformation_schema\nsales\n"
    assert ran(runner, "\\l l*")[0] == "Catalog\nlake\n"
    assert ran(runner, "\\df abs")[0].splitlines()[1].startswith("abs,scalar,")
    assert len(ran(runner, "\\d")[0].splitlines()) == 4


def test_to_another_place(runner: Runner) -> None:
    ran(runner, TABLES + "\\c sales")
    assert runner.backend.position.namespace == ("sales",)
    assert "lake.sales" in ran(runner, "\\conninfo")[1]
    assert "\\c needs" in ran(runner, "\\c", fine=False)[1]
    assert "NAMESPACE_NOT_FOUND" in ran(runner, "\\c nowhere", fine=False)[1]


def test_how_results_look(runner: Runner) -> None:
    runner.console.format = "table"
    out, _ = ran(runner, "\\x on\nselect 1 as a;\n\\x\nselect 2 as b;")
    assert "a │ 1" in out
    assert "│ b │" in out
    out, _ = ran(runner, "select 3 as c \\gx\nselect 4 as d;")
    assert "c │ 3" in out
    assert "│ d │" in out
    out, _ = ran(runner, "\\timing on\nselect 1;\n\\timing off\nselect 1;")
    assert "(1 row, 0." in out
    assert "(1 row)" in out
    assert ran(runner, "\\format json\nselect 1 as a;")[0] == '[{"a":1}]\n'
    assert "csv" in ran(runner, "\\format yaml", fine=False)[1]
    assert "pager" in ran(runner, "\\pset")[1]
    assert "it has: " in ran(runner, "\\pset nope on", fine=False)[1]
    ran(runner, "\\pset fit off")
    assert runner.console.display.fit is False


def test_results_into_a_file(runner: Runner) -> None:
    text = "\\o one.csv\nselect 1 as a;\nselect 2 as a;\n\\o two.csv\nselect 3 as a;\n\\o\nselect 4 as a;\n\\o"
    assert ran(runner, text)[0] == "a\n4\n"
    assert Path("one.csv").read_text() == "a\n1\na\n2\n"
    assert Path("two.csv").read_text() == "a\n3\n"
    assert "can't write" in ran(runner, "\\o missing/x.csv", fine=False)[1]


def test_the_statement_at_hand(runner: Runner) -> None:
    assert ran(runner, "\\g", fine=False)[1] == "INVALID_ARGUMENT: there is no statement to run yet\n"
    assert ran(runner, "select 1 as a;\n\\g\n\\g")[0] == "a\n1\n" * 3
    assert ran(runner, "select 2 as b\n\\p\n\\g") == ("b\n2\n", "select 2 as b\n")
    assert ran(runner, "select 2 as b\n\\r\nselect 3 as c;")[0] == "c\n3\n"
    assert "\\e needs" in ran(runner, "\\e", fine=False)[1]


def test_a_secret_is_not_printed(runner: Runner) -> None:
    said = ran(runner, "create secret s (type bearer, token 'hunter2')\n\\p\n\\r")[1]
    assert "create secret s" in said
    assert "hunter2" not in said


def test_scripts_within_scripts(runner: Runner) -> None:
    Path("inner.sql").write_text("select 1 as a;\n\\q\nselect 'not me';\n")
    Path("outer.sql").write_text("\\i inner.sql\nselect 2 as a;\n")
    assert ran(runner, "\\i outer.sql\nselect 3 as a")[0] == "a\n1\na\n2\na\n3\n"


def test_an_error_in_an_included_script_names_its_place_and_ends_all(runner: Runner) -> None:
    Path("inner.sql").write_text("select 1 as a;\n\nselect nope;\n")
    Path("outer.sql").write_text("\\i inner.sql\nselect 2 as a;\n")
    out, err = ran(runner, "\\i outer.sql\nselect 3 as a", fine=False)
    assert out == "a\n1\n"
    assert err.startswith("inner.sql:3: COLUMN_NOT_FOUND: ")
    assert err.count("_NOT_FOUND") == 1


def test_scripts_that_include_each_other_end(runner: Runner) -> None:
    Path("circle.sql").write_text("\\i circle.sql\n")
    assert "circle.sql:1: INVALID_ARGUMENT: files include each other" in ran(runner, "\\i circle.sql", fine=False)[1]
    assert runner.state.depth == 0
    assert "can't read gone.sql" in ran(runner, "select 1 as a;\n\\i gone.sql", fine=False)[1]


def test_the_system(runner: Runner, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "below").mkdir()
    said = ran(runner, "\\cd below\n\\! pwd; exit 3\n\\echo it's; done;")[1]
    assert capfd.readouterr().out.rstrip() == str(tmp_path / "below")
    assert said == "exit code 3\nit's; done;\n"
    assert "can't go to" in ran(runner, "\\cd missing", fine=False)[1]


def test_help(runner: Runner) -> None:
    assert "\\pset" in ran(runner, "\\?")[1]
    assert "CREATE TABLE" in ran(runner, "\\h")[1]
    assert "DESCRIBE table | view" in ran(runner, "\\h describe")[1]
    assert "\\h lists" in ran(runner, "\\h frobnicate", fine=False)[1]


@pytest.mark.parametrize(("wrong", "near"), [("\\dtt", "\\dt"), ("\\formt csv", "\\format"), ("\\TIMING", "\\timing")])
def test_a_wrong_command_names_those_that_are_near(runner: Runner, wrong: str, near: str) -> None:
    said = ran(runner, wrong, fine=False)[1]
    assert f"there is no command {wrong.split()[0]}" in said
    assert near in said.partition(";")[2]


def test_the_help_fits_a_terminal_of_80_columns() -> None:
    assert max(map(len, help_text().splitlines())) <= 80
    assert len({name for command in COMMANDS for name in command.names}) == sum(len(c.names) for c in COMMANDS)


def test_every_command_is_documented() -> None:
    page = (ROOT / "docs/how-to/use-the-shell.md").read_text(encoding="utf-8")
    rows = [f"| `{c.usage}` | {c.help} |".replace("[on|off|auto]", "[on\\|off\\|auto]") for c in COMMANDS]
    rows = [row.replace("[on|off]", "[on\\|off]") for row in rows]
    assert [row for row in rows if row not in page] == []


@pytest.mark.slow
def test_commands_on_the_command_line(cli: Cli, tmp_path: Path) -> None:
    assert "lake" in cli("-c", "\\l").stdout
    (tmp_path / "x.sql").write_text("\\format csv\nselect 1 as a;\n\\nope\nselect 2;\n")
    done = cli("-f", "x.sql")
    assert done.returncode == 1
    assert done.stdout.endswith("a\n1\n")
    assert "x.sql:3: NOT_FOUND: there is no command \\nope" in done.stderr
    assert cli(input="select 1 as a \\gx\n").stdout.startswith("─[ row 1 ]")
