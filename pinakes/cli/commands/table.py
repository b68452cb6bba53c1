"""The table of all commands. Help, completion and the documentation page are generated from it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pinakes.cli.commands import catalog, files, output, session, statement
from pinakes.cli.commands.base import Call, Command
from pinakes.cli.formats import FORMATS
from pinakes.core.errors import NotFoundError
from pinakes.core.suggestions import close_to

if TYPE_CHECKING:
    from pinakes.cli.runner import Runner
    from pinakes.cli.steps import Script

LOOK, SHOW, RUN, FILES, SELF = "Metadata", "Output", "Statements", "Files", "Other"


def _help_on_commands(call: Call) -> None:
    """\\?"""
    call.console.say(f"{help_text()}\n\n{session.KEYS}")


COMMANDS: tuple[Command, ...] = (
    Command(("\\d",), "[name]", "list tables and views, or the columns of one", catalog.describe, LOOK, "relation"),
    Command(("\\dt",), "[pattern]", "list tables, as in \\dt o* or \\dt lake.sales.*", catalog.tables, LOOK,
            "relation"),
    Command(("\\dv",), "[pattern]", "list views", catalog.views, LOOK, "relation"),
    Command(("\\dn",), "[name]", "list namespaces of the current catalog, or of name", catalog.namespaces, LOOK,
            "place"),
    Command(("\\df",), "[pattern]", "list functions", catalog.functions, LOOK),
    Command(("\\l",), "[pattern]", "list catalogs", catalog.catalogs, LOOK),
    Command(("\\c", "\\connect"), "name", "change the catalog or namespace (USE)", catalog.use, LOOK, "place"),
    Command(("\\x",), "[on|off|auto]", "show one column per line; auto: if rows are too wide",
            output.expanded, SHOW, choices=output.EXPANDED),
    Command(("\\timing",), "[on|off]", "show execution times", output.timing, SHOW,
            choices=output.SWITCH),
    Command(("\\format",), "[name]", f"{', '.join(FORMATS[:-1])} or {FORMATS[-1]}", output.choose_format, SHOW,
            choices=FORMATS),
    Command(("\\pset",), "[name [value]]", ", ".join(output.SETTINGS), output.settings,
            SHOW, choices=tuple(output.SETTINGS)),
    Command(("\\o",), "[file]", "write results to a file; without one, to the screen", output.to_file, SHOW,
            "file"),
    Command(("\\g",), "", "run the statement, or repeat the last one", statement.run_again, RUN, "nothing"),
    Command(("\\gx",), "", "the same, with one column per line", statement.run_expanded, RUN, "nothing"),
    Command(("\\p",), "", "print the statement, or the last one", statement.show_statement, RUN, "nothing"),
    Command(("\\r",), "", "clear the statement", statement.forget, RUN, "nothing"),
    Command(("\\s",), "[number]", "show the history, or its last entries", statement.history, RUN, "nothing"),
    Command(("\\e",), "[file]", "edit the statement, or a file, with $VISUAL or $EDITOR", files.edit, RUN, "file"),
    Command(("\\i",), "file", "run a script", files.include, FILES,
            "file"),
    Command(("\\cd",), "[directory]", "change the current directory", files.change_directory, FILES, "file"),
    Command(("\\!",), "[command]", "run a shell command", files.run_program, FILES),
    Command(("\\echo",), "[text]", "print text", output.echo, SELF),
    Command(("\\conninfo",), "", "show the connection", session.where, SELF, "nothing"),
    Command(("\\h",), "[statement]", "show the syntax of statements", session.help_on_statements, SELF),
    Command(("\\?",), "", "show this help", _help_on_commands, SELF, "nothing"),
    Command(("\\q",), "", "leave", session.leave, SELF, "nothing"),
)  # fmt: skip

_BY_NAME = {name: command for command in COMMANDS for name in command.names}


def find(line: str) -> Command | None:
    """Returns the command at the start of a line."""
    return _BY_NAME.get(_parted(line)[0])


def run_command(line: str, runner: Runner, statement: str = "") -> Script | None:
    """Runs a line that begins with a backslash; returns a script to run next, if any."""
    name, argument = _parted(line)
    command = _BY_NAME.get(name)
    if command is None:
        raise _unknown(name)
    return command.run(Call(runner, name, argument, statement))


def help_text() -> str:
    """Returns the help of all commands, by group."""
    width = max(len(command.usage) for command in COMMANDS) + 2
    lines: list[str] = []
    for group in dict.fromkeys(command.group for command in COMMANDS):
        lines += ["", group]
        lines += [f"  {c.usage.ljust(width)}{c.help}" for c in COMMANDS if c.group == group]
    return "\n".join(lines[1:])


def _parted(line: str) -> tuple[str, str]:
    """Splits a line into name and argument; a trailing semicolon is ignored, except in \\! and \\echo."""
    words = line.strip()
    if words.startswith("\\!"):
        return "\\!", words[2:].strip()
    name, _, argument = words.partition(" ")
    if "\t" in name:
        name, _, argument = words.partition("\t")
    if name.rstrip(";") == "\\echo":
        return "\\echo", argument.strip()
    return name.rstrip(";"), argument.strip().rstrip(";").strip()


def _unknown(name: str) -> NotFoundError:
    close = close_to(name, _BY_NAME, most=3, cutoff=0.5)
    hint = f"did you mean {' or '.join(close)}? " if close else ""
    return NotFoundError(f"there is no command {name}; {hint}\\? lists them all")
