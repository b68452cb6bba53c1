"""The shell on a real terminal, as a person sees it: widths, pager, interrupts, paste, terminals that can do little."""

from __future__ import annotations

import select
import shutil
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.cli.screen import Screen

pytestmark = pytest.mark.slow

Open = Callable[..., Screen]
ENDLESS = "select sum(value % 7) from range(100000000000);"


@pytest.fixture
def shell(tmp_path: Path, env: dict[str, str], where: tuple[str, ...]) -> Iterator[Open]:
    """Opens shells that are at their first prompt."""
    opened: list[Screen] = []

    def start(*arguments: str, columns: int = 80, rows: int = 24, **more: str) -> Screen:
        screen = Screen(tmp_path, env | more, *arguments, columns=columns, rows=rows, where=where)
        opened.append(screen)
        screen.prompt()
        return screen

    yield start
    for screen in opened:
        screen.close()


WIDE = (
    "select 1 as id, null as nothing, repeat('日本', 60) as wide, [1, null] as list, {'a': 1} as pair, 'x\ny' as lines;"
)


@pytest.mark.parametrize("columns", [80, 200])
def test_a_wide_row_fits_the_terminal(shell: Open, columns: int) -> None:
    screen = shell(columns=columns)
    screen.type(WIDE.replace("\n", "'||chr(10)||'") + "\r")
    screen.until("(1 row")
    box = [line for line in screen.lines if line.startswith(("┌", "│", "├", "└"))]
    assert len(box) == 6
    assert len({len(line) for line in (box[0], box[2], box[5])}) == 1
    assert len(box[0]) == columns
    assert "NULL" in box[3]
    assert "日本" in box[3]
    assert "…" in box[3]
    assert "│ x " in box[3]
    assert "│ y " in box[4]


def test_too_many_columns_are_left_out_and_expanded_shows_them(shell: Open) -> None:
    screen = shell()
    columns = ", ".join(f"'value {n}' as column_{n}" for n in range(12))
    screen.type(f"select {columns};\r")
    screen.until("(1 row, ", "6 of 12 columns, \\x shows all")
    screen.prompt()
    screen.enter("\\x auto")
    screen.prompt()
    screen.type("\\g\r")
    screen.until("column_11 │ value 11")


needs_less = pytest.mark.skipif(shutil.which("less") is None, reason="less is not installed, which is the pager here")


@needs_less
def test_the_pager_shows_a_long_result_and_q_ends_the_query(shell: Open) -> None:
    screen = shell(PAGER="less -SRXK")
    screen.enter("select value from generate_series(1, 100000000);")
    screen.until("│    20 │")
    screen.type(" ")
    screen.until("│    40 │")
    screen.type("q")
    screen.prompt()
    screen.enter("select 'still' || ' here' as y;")
    screen.until("still here")
    assert "Traceback" not in screen.text


@needs_less
def test_ctrl_c_in_the_pager_comes_back_to_the_prompt(shell: Open) -> None:
    screen = shell(PAGER="less -SRXK")
    screen.enter("select value from generate_series(1, 100000000);")
    screen.until("│    20 │", "\n:")
    while not screen.text.endswith("lake.default>"):
        screen.type("\x03")  # less takes one that comes while it reads for the end of reading only
        while select.select([screen.control], [], [], 2.0)[0]:
            screen._step()
    screen.enter("select 'still' || ' here' as y;")
    screen.until("still here")
    assert b"Traceback" not in screen.sent


def test_without_pager_everything_is_printed(shell: Open) -> None:
    screen = shell()
    screen.enter("\\pset pager off")
    screen.until("pager is off")
    screen.enter("select value from generate_series(1, 100);")
    screen.until("│   100 │", "(100 rows")


def test_a_short_result_needs_no_pager(shell: Open) -> None:
    screen = shell(PAGER="false")
    screen.enter("select value from generate_series(1, 3);")
    screen.until("│     3 │", "(3 rows")


@pytest.mark.parametrize("sql", [ENDLESS, "select value from generate_series(1, 100000000);"], ids=["scan", "print"])
def test_ctrl_c_cancels_the_statement_only(shell: Open, sql: str) -> None:
    screen = shell()
    screen.enter("\\pset pager off")
    screen.prompt()
    screen.enter("select 'be' || 'gun' as x; " + sql)
    screen.until("begun" if sql is ENDLESS else "│  1")
    screen.type("\x03")
    screen.until("canceled")
    screen.prompt()
    screen.enter("select 'still' || ' here' as y;")
    screen.until("still here")
    assert b"Traceback" not in screen.sent


def test_ctrl_c_at_the_prompt_clears_it_and_ctrl_d_leaves(shell: Open) -> None:
    screen = shell()
    screen.type("select 1\rfrom")
    screen.until("-> from")
    screen.type("\x03")
    screen.prompt()
    screen.type("\x04")
    assert screen.process.wait(180) == 0


def test_five_hundred_pasted_lines_are_one_text(shell: Open) -> None:
    """Bracketed paste: nothing runs before Enter."""
    screen = shell()
    lines = "\r".join(f"select {n} as a;" for n in range(500))
    screen.type(f"\x1b[200~{lines}\x1b[201~")
    screen.until("select 499 as a;")
    assert "row" not in screen.text
    screen.type("\r")
    screen.until("│ 499 │")


def test_a_huge_line(shell: Open) -> None:
    screen = shell()
    screen.type(f"\x1b[200~select length('{'x' * 300_000}') as n;\x1b[201~")
    screen.until("as n;")
    screen.type("\r")
    screen.until("│ 300000 │")


def test_completion_from_the_live_catalog(shell: Open) -> None:
    screen = shell()
    screen.enter("create table orders (order_id bigint, total double);")
    screen.until("CREATE TABLE (")
    screen.prompt()
    screen.type("select * from ord")
    screen.until("orders  table")
    screen.type("\t")
    screen.until("from orders")
    screen.type("\x03")
    screen.prompt()
    screen.type("select o. from orders o;" + "\x1b[D" * 15 + "\t")
    screen.until("order_id", "total", "column")
    screen.type("\t")
    screen.until("select o.order_id from")
    screen.type("\r")  # takes the completion
    screen.type("\r")
    screen.until("(0 rows")


@pytest.mark.parametrize("more", [{"TERM": "dumb"}, {"NO_COLOR": "1"}], ids=["dumb", "no colour"])
def test_terminals_without_colour(shell: Open, more: dict[str, str]) -> None:
    screen = shell(**more)
    screen.type("select null as a, 'str' as b; -- why\r")
    screen.until("(1 row")
    coloured = [code for code in (b"\x1b[2m", b"\x1b[32m", b"\x1b[36m", b"\x1b[0;32m") if code in screen.sent]
    assert coloured == []


def test_colours_where_they_are_wanted(shell: Open) -> None:
    screen = shell()
    screen.type("select null as a;\r")
    screen.until("(1 row")
    assert b"\x1b[2mNULL\x1b[22m" in screen.sent


def test_the_window_is_resized(shell: Open) -> None:
    screen = shell(columns=80)
    screen.resize(120, 24)
    screen.process.send_signal(signal.SIGWINCH)
    screen.enter("select repeat('x', 500) as x;")
    screen.until("(1 row")
    assert max(len(line) for line in screen.lines) == 120


def test_an_editor_edits_the_last_statement(shell: Open, tmp_path: Path) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    editor = tmp_path / "editor"
    editor.write_text("#!/bin/sh\nsed -i 's/one/two/' \"$1\"\n")
    editor.chmod(0o755)
    screen = shell(EDITOR=str(editor), TMPDIR=str(scratch))
    screen.enter("select 'one' || '!' as x;")
    screen.until("one!")
    screen.prompt()
    screen.enter("\\e")
    screen.until("two!")
    assert list(scratch.glob("*.sql")) == []


def test_the_start_up_script_and_how_to_leave_it_out(shell: Open, env: dict[str, str]) -> None:
    file = Path(env["HOME"], ".config", "pinakes", "shell.sql")
    file.parent.mkdir(parents=True)
    file.write_text("\\pset timing off\nselect 'wel' || 'come' as x;\nselect broken;\n")
    screen = shell()
    screen.until("welcome", "shell.sql:3: ", "Pinakes")
    assert "welcome" not in shell("--no-rc").text


def test_vi_keys(shell: Open) -> None:
    screen = shell()
    screen.enter("\\pset editing vi")
    screen.until("editing is vi")
    screen.prompt()
    screen.type("select 12 as x;")
    screen.until("as x;")
    screen.type("\x1b0wx")
    screen.until("select 2 as x;")
