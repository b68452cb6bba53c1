"""Commands about the session and the shell: \\conninfo, \\?, \\h, \\q."""

from __future__ import annotations

import re
from itertools import takewhile
from textwrap import fill

from pinakes.cli.commands.base import Call
from pinakes.cli.runner import Leave
from pinakes.core.errors import NotFoundError
from pinakes.core.version import __version__

_WIDTH = 80
KEYS = """\
Enter       runs what a semicolon ends, else begins a new line
Alt-Enter   runs what there is, semicolon or not
Tab         completes; Right takes the suggestion from the history
Ctrl-R      searches the history; Ctrl-X Ctrl-E opens an editor
Ctrl-C      clears the input, or cancels the statement that runs
Ctrl-D      leaves"""


def where(call: Call) -> None:
    """\\conninfo"""
    lines = [f"Pinakes {__version__}", *(f"{title:10} {text}" for title, text in call.backend.about())]
    call.console.say("\n".join(lines))


def help_on_statements(call: Call) -> None:
    """\\h [statement]"""
    statement_name = " ".join(call.argument.upper().split())
    forms = call.backend.statement_forms()
    if not statement_name:
        call.console.say("\n".join(["\\h NAME describes one of:", *_in_columns([_title(form) for form in forms])]))
        return
    found = [form for form in forms if _bare(form).startswith(statement_name)]
    found = found or [form for form in forms if f" {statement_name} " in f"{_bare(form)} "]  # VALUES, WITH
    if not found:
        raise NotFoundError(f"no statement begins with {statement_name}; \\h lists what there is")
    call.console.say("\n".join(fill(form, _WIDTH, subsequent_indent="    ") for form in found))


def leave(call: Call) -> None:
    """\\q"""
    raise Leave


def _bare(form: str) -> str:
    """Returns the syntax without optional parts: `CREATE [OR REPLACE] TABLE …` → `CREATE TABLE …`."""
    return " ".join(re.sub(r"\[[^\]]*\]", " ", form.partition(":")[0]).split())


def _title(form: str) -> str:
    """Returns the first words of a statement, at most two."""
    words = list(takewhile(lambda word: word.isupper() and word.isalpha(), _bare(form).replace(",", " , ").split()))
    return " ".join(words[:2])


def _in_columns(titles: list[str]) -> list[str]:
    names = sorted(set(titles))
    return ["  " + "".join(name.ljust(20) for name in names[at : at + 4]).rstrip() for at in range(0, len(names), 4)]
