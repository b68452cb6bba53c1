"""Splits a text into statements and commands, in order.

A command begins with a backslash at the start of a line and extends to the end of the line; `\\g` may also end the line
of a statement. A command within a statement leaves it open, unless the command applies to the statement.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from pathlib import Path

from pinakes.core.errors import FileNotFound
from pinakes.parser import ScriptPart, split
from pinakes.parser.lexemes import lexemes

_COMMAND = re.compile(r"^[ \t]*(\\\S.*)$|(?<=\s)(\\gx?)[ \t]*;?[ \t\r]*$", re.MULTILINE)

TAKES_STATEMENT = frozenset({"\\g", "\\gx", "\\r", "\\e"})
"""The commands that end an open statement."""

STDIN = "-"


@dataclass(frozen=True, slots=True)
class Script:
    """A text and its origin. `origin` is empty for a text of -c."""

    text: str
    origin: str = ""

    def place(self, line: int) -> str:
        """Returns the position prefix of an error: `file.sql:12: `."""
        if self.origin:
            return f"{self.origin}:{line}: "
        return f"line {line}: " if line > 1 else ""


def read_script(path: str) -> Script:
    """Reads the script of a file, or of stdin for `-`."""
    try:
        if path == STDIN:
            return Script(sys.stdin.read(), "<stdin>")
        return Script(Path(path).read_text(encoding="utf-8-sig"), path)
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise FileNotFound(f"can't read {path}: {reason}") from error


@dataclass(frozen=True, slots=True)
class Step:
    """A statement, or a command with the open statement before it. `line` counts from 1."""

    text: str
    offset: int
    line: int
    is_command: bool = False
    buffer: str = ""
    closed: bool = True
    """False for a last statement without a semicolon."""


def steps(text: str) -> list[Step]:
    found: list[Step] = []
    start = 0
    while (command := _next_command(text, start)) is not None:
        parts = _parts(text, start, command.start())
        opened = parts.pop() if parts and not parts[-1].closed else None
        step = _command_step(text, command, opened.text if opened else "")
        found += [*parts, step]
        if opened is None or step.text.split()[0].rstrip(";") in TAKES_STATEMENT:
            start = command.end()
        else:  # the statement continues after the command, at unchanged positions
            start = opened.offset
            text = text[: command.start()] + " " * (command.end() - command.start()) + text[command.end() :]
    return [*found, *_parts(text, start, len(text))]


def _next_command(text: str, start: int) -> re.Match[str] | None:
    """Returns the next command that is not within a string or comment."""
    for command in _COMMAND.finditer(text, start) if "\\" in text else ():
        before = lexemes(text[start : command.start()])
        if not before or before[-1].closed:
            return command
    return None


def _command_step(text: str, command: re.Match[str], buffer: str) -> Step:
    which = 1 if command[1] else 2
    offset = command.start(which)
    return Step(command[which].strip(), offset, text.count("\n", 0, offset) + 1, is_command=True, buffer=buffer)


def _parts(text: str, start: int, end: int) -> list[Step]:
    script = text[start:end]
    parts = split(script)
    behind = script[parts[-1].offset + len(parts[-1].text) :] if parts else ""
    closed = any(lexeme.word == ";" for lexeme in lexemes(behind))
    lines = text.count("\n", 0, start)
    return [_statement(part, start, lines, closed or part is not parts[-1]) for part in parts]


def _statement(part: ScriptPart, start: int, lines: int, closed: bool) -> Step:
    return Step(part.text, start + part.offset, lines + part.line, closed=closed)
