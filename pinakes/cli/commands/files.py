"""Commands for files and programs: \\i, \\e, \\cd, \\!."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import tempfile
from pathlib import Path

from pinakes.cli.commands.base import Call
from pinakes.cli.steps import Script, read_script, steps
from pinakes.core.errors import InvalidArgument

DEEPEST = 20
"""Maximum nesting of included files; more indicates a cycle."""


def include(call: Call) -> Script:
    """\\i file"""
    if not call.argument:
        raise InvalidArgument("\\i needs the name of a file")
    if call.state.depth >= DEEPEST:
        raise InvalidArgument(f"files include each other more than {DEEPEST} deep; the last is {call.argument}")
    return read_script(str(call.path()))


def edit(call: Call) -> Script | None:
    """\\e [file]: runs the edited text if it ends with a semicolon; otherwise it becomes the input of the next
    prompt."""
    if call.state.typed is None:
        raise InvalidArgument("\\e needs somebody who edits: it works at the prompt only")
    if call.argument:
        text = _edited_in(call.path())
    else:
        text = _edited(call.statement or (f"{call.state.last};\n" if call.state.last else ""))
    found = steps(text)
    if found and found[-1].closed:
        return Script(text)
    if found:
        call.state.drafted = text.rstrip("\n")
    return None


def change_directory(call: Call) -> None:
    where = call.path() if call.argument else Path.home()
    try:
        os.chdir(where)
    except OSError as error:
        raise InvalidArgument(f"can't go to {where}: {error.strerror}") from error


def run_program(call: Call) -> None:
    """\\! [command]: runs a command, or the system shell."""
    command = call.argument or os.environ.get("SHELL", "/bin/sh")
    code = subprocess.run(command, shell=True).returncode
    if code:
        call.console.say(f"exit code {code}")


def _edited(text: str) -> str:
    """Lets the user edit a text in a temporary file that only the owner can read, and returns the result."""
    handle, name = tempfile.mkstemp(suffix=".sql", prefix="pinakes-")
    path = Path(name)
    try:
        os.close(handle)
        path.write_text(text, encoding="utf-8")
        return _edited_in(path)
    finally:
        path.unlink(missing_ok=True)


def _edited_in(path: Path) -> str:
    words = _editor()
    try:
        code = subprocess.run([*words, str(path)]).returncode
        if code:
            raise InvalidArgument(f"{words[0]} ended with exit code {code}: nothing is run")
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise InvalidArgument(f"can't edit {path} with {words[0]}: {reason}. Set EDITOR to another editor.") from error


def _editor() -> list[str]:
    """Returns the editor command as a list of words."""
    given = os.environ.get("VISUAL") or os.environ.get("EDITOR") or ""
    try:
        return shlex.split(given) or [next(filter(shutil.which, ("nano", "vim", "vi")), "vi")]
    except ValueError as error:
        raise InvalidArgument(f"{given!r} can't be started: {error}. Set EDITOR to another editor.") from error
