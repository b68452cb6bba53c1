"""Control characters in names and messages of others must not reach a terminal or a log as they are."""

from __future__ import annotations

import io
import json
import logging
import subprocess
import sys
from pathlib import Path

import pytest
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document

from pinakes.api.completion import Completion
from pinakes.cli.console import Console
from pinakes.cli.prompt.completion import ShellCompleter
from pinakes.cli.subcommands.doctor.finding import problem
from pinakes.cli.subcommands.doctor.report import checklist
from pinakes.core.errors import TableNotFound
from pinakes.core.output.terminal_text import one_line, printable
from pinakes.server.logs import Lines, Objects
from tests.flight.identities import as_user, asked, configured, is_refused

EVIL = "a\x1b]0;owned\x07\x1b[2J\x9b31m\u202eb\x7f\rc"
HIDDEN = ("\x1b", "\x07", "\x9b", "\u202e", "\x7f", "\r")


def raw(text: str) -> list[str]:
    return [sign for sign in HIDDEN if sign in text]


def test_one_function_shows_them_as_escapes() -> None:
    assert printable(EVIL) == r"a\x1b]0;owned\x07\x1b[2J\x9b31m\u202eb\x7f\rc"
    assert printable("two\n\tlines") == "two\n\tlines"
    assert one_line("two\nlines") == r"two\nlines"


def test_the_console_prints_no_escape_codes() -> None:
    out, err = io.StringIO(), io.StringIO()
    console = Console(out=out, err=err)
    console.note(EVIL)
    console.say(EVIL)
    console.warn(EVIL)
    console.error(TableNotFound(EVIL))
    console.error(RuntimeError(EVIL), place=EVIL)
    assert out.getvalue().count(r"\x1b[2J") == 2
    assert err.getvalue().count(r"\x1b[2J") == 4
    assert raw(out.getvalue() + err.getvalue()) == []


@pytest.mark.slow
@pytest.mark.parametrize("format", ["table", "csv"])
def test_the_command_line_prints_no_escape_codes(tmp_path: Path, format: str) -> None:
    name = EVIL.replace("\r", "").replace("\x7f", "")
    script = tmp_path / "attack.sql"
    script.write_text(
        f'CREATE TABLE "{name}" ("{name}" int); SELECT * FROM "{name}"; SHOW TABLES; DESCRIBE "{name}";\n'
        f'\\d "{name}"\n\\d\n\\x on\nSELECT 1 AS "{name}";\n\\x off\nCREATE TABLE "{name}" (a int);\n'
        f'SELECT * FROM "{name}x";\nSELECT "{name}" FROM nothing;\nSET x = \'{name}\';\nCALL "{name}".x();\n'
    )
    command = [sys.executable, "-m", "pinakes", "--data", ":memory:", "--format", format, "-f", str(script)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert "TABLE_NOT_FOUND" in done.stderr or "TABLE_EXISTS" in done.stderr, done.stderr
    assert raw(done.stderr) == []
    if format != "csv":  # data for files, which stays as it is
        assert raw(done.stdout) == []


def test_the_menu_of_completions_shows_them_as_escapes() -> None:
    class Names:
        loaded, busy = 0, False

        def complete(self, text: str, cursor: int) -> list[Completion]:
            return [Completion(f'"{EVIL}"', cursor, "table")]

    found = list(ShellCompleter(Names()).get_completions(Document("SELECT a", 8), CompleteEvent()))  # type: ignore[arg-type]
    assert raw(found[0].display_text) == []
    assert found[0].text == f'"{EVIL}"'  # what is inserted is the name


def test_doctor_prints_no_escape_codes() -> None:
    assert raw(checklist({"g": [problem(EVIL, EVIL, EVIL)]}, colour=False)) == []


@pytest.mark.parametrize("formatter", [Lines(), Objects()])
def test_a_log_line_is_one_line(formatter: logging.Formatter) -> None:
    fields = {"user": EVIL + "\nforged", "statement": f"SELECT '{EVIL}'\nforged", "query_id": "q"}
    for extra in ({}, {"statement": fields}):
        record = logging.LogRecord("x", logging.INFO, "", 1, "login of %s\nforged", (EVIL,), None)
        record.__dict__.update(extra)
        line = formatter.format(record)
        assert raw(line) == []
        assert "\n" not in line
        if isinstance(formatter, Objects):
            assert json.loads(line)["message"] == f"login of {EVIL}\nforged"


@pytest.mark.slow
def test_names_of_users_forge_no_line_in_the_log_of_a_server(tmp_path: Path) -> None:
    with configured(tmp_path, '[server.users]\nann = "secret-ann"\n[log]\nlevel = "info"\n') as server:
        assert is_refused(server, **as_user(f"x\nListening on forged {EVIL}", "wrong"))
        assert asked(server, f"SELECT '{EVIL}\nforged' AS x", **as_user("ann", "secret-ann"))
        assert not [line for line in server.said if line.startswith(("Listening on forged", "forged"))]
        assert raw(server.output) == []
