"""Parses the line of `%sql` and `%%sql`: options, `name <<`, and the beginning of the SQL.

%sql --connect data=:memory: time_zone=Europe/Berlin
%sql --connection con
%%sql --out totals
%%sql totals << SELECT …
"""

from __future__ import annotations

import keyword
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field

from pinakes.core.errors import InvalidArgument

OPTIONS = ("--connect", "--connection", "--out")

_OPTION = re.compile(r"\s*(--\w[\w-]*)(?=\s|$)")
_WORD = re.compile(r"\s*(\S+)")
_PAIR = re.compile(r"""\s*(\w+)=((?:"[^"]*"|'[^']*'|[^\s"'])*)(?=\s|$)""")
_TARGET = re.compile(r"\s*(\w+)\s*<<")


@dataclass(frozen=True, slots=True)
class Line:
    sql: str
    """The text after the options."""
    connect: Mapping[str, str] | None = field(default=None, repr=False)
    """The arguments of a new connection: arguments of `pinakes.connect` and settings."""
    connection: str | None = None
    """The variable that holds the connection to use from now on."""
    out: str | None = None
    """The variable that gets the last result."""


def with_body(lines: list[str]) -> list[str]:
    """Adds an empty body to a cell of one line, `%%sql SELECT 1`, since IPython requires one."""
    return [*lines, "\n"] if len(lines) == 1 and re.match(r"%%sql\s+\S", lines[0]) else lines


def read_line(text: str) -> Line:
    """Parses the line. A `--` followed by a blank begins an SQL comment, and so ends the options."""
    connect: dict[str, str] | None = None
    connection = out = None
    while option := _OPTION.match(text):
        text = text[option.end() :]
        match option[1]:
            case "--connect":
                connect, text = _pairs(text)
            case "--connection":
                connection, text = _name(text, "--connection", "the variable that holds the connection")
            case "--out":
                out, text = _name(text, "--out", "the variable that gets the result")
            case unknown:
                raise InvalidArgument(
                    f"there is no option {unknown}; available: {', '.join(OPTIONS)}. "
                    f"A comment has a blank after its dashes."
                )
    if connect is not None and connection is not None:
        raise InvalidArgument("--connect opens a connection and --connection names one that is open: give one of them")
    if target := _TARGET.match(text):
        out, text = _variable(target[1]), text[target.end() :]
    return Line(text.strip(), connect, connection, out)


def _pairs(text: str) -> tuple[dict[str, str], str]:
    found: dict[str, str] = {}
    while pair := _PAIR.match(text):
        found[pair[1]] = "".join(shlex.split(pair[2]))
        text = text[pair.end() :]
    return found, text


def _name(text: str, option: str, meaning: str) -> tuple[str, str]:
    word = _WORD.match(text)
    if word is None:
        raise InvalidArgument(f"{option} needs a name: that of {meaning}")
    return _variable(word[1]), text[word.end() :]


def _variable(name: str) -> str:
    if not name.isidentifier() or keyword.iskeyword(name):
        raise InvalidArgument(f"{name!r} can't be the name of a Python variable")
    return name
