"""A text → its statements and commands, in order.

A command begins with a backslash at the start of a line and reaches to the end of the line; `\\g` may also end a
statement's line. One that stands within a statement leaves it open, unless the command is about the statement.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from pinakes.parser import ScriptPart, split
from pinakes.parser.lexemes import lexemes

_COMMAND = re.compile(r"^[ \t]*(\\\S.*)$|(?<=\s)(\\gx?)[ \t]*;?[ \t\r]*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Step:
    """A statement, or a command with the statement that is open where it stands. `line` counts from 1."""

    text: str
    offset: int
    line: int
    is_command: bool = False
    buffer: str = ""
    closed: bool = True
    """False for a statement at the end that no semicolon ends."""


def steps(text: str) -> list[Step]:
    found: list[Step] = []
    start = 0
    while (command := _next_command(text, start)) is not None:
        parts = _parts(text, start, command.start())
        opened = parts.pop() if parts and not parts[-1].closed else None
        step = _command_step(text, command, opened.text if opened else "")
        found += [*parts, step]
        if opened is None or _takes_buffer(step.text):
            start = command.end()
        else:  # the statement goes on behind the command, at the places it has in the text
            start = opened.offset
            text = text[: command.start()] + " " * (command.end() - command.start()) + text[command.end() :]
    return [*found, *_parts(text, start, len(text))]


def _next_command(text: str, start: int) -> re.Match[str] | None:
    """The next line that is a command, and not a part of a string or comment."""
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


def _takes_buffer(line: str) -> bool:
    from pinakes.cli.commands import find  # a script without commands doesn't pay for them

    command = find(line)
    return command is not None and command.takes_statement
