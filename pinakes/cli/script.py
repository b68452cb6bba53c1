"""Scripts: texts of several statements, run in order. The first that fails ends them, with its line."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pinakes.cli.runner import Runner
from pinakes.cli.shell_state import IncludeFailed, Leave
from pinakes.core.errors import FileNotFound

if TYPE_CHECKING:
    from pinakes.cli.steps import Step

STDIN = "-"


@dataclass(frozen=True, slots=True)
class Script:
    """A text and where it comes from. `origin` is empty for what was given with -c."""

    text: str
    origin: str = ""

    def place(self, line: int) -> str:
        """Where a statement stands, as the beginning of an error: `file.sql:12: `."""
        if self.origin:
            return f"{self.origin}:{line}: "
        return f"line {line}: " if line > 1 else ""


def read_script(path: str) -> Script:
    """The script in a file, or in stdin for `-`."""
    try:
        if path == STDIN:
            return Script(sys.stdin.read(), "<stdin>")
        return Script(Path(path).read_text(encoding="utf-8-sig"), path)
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise FileNotFound(f"can't read {path}: {reason}") from error


def run_script(script: Script, runner: Runner) -> bool:
    """Run a script's statements and commands in order; False when one failed, which ends it. `\\q` ends it, too."""
    try:
        return run_steps(script, runner)
    except Leave:
        return True


def run_steps(script: Script, runner: Runner) -> bool:
    """The same for who has to know that somebody wants to leave."""
    from pinakes.cli.steps import steps

    start = (1, 1)
    try:
        for step in steps(script.text):
            start = step.line, step.offset - script.text.rfind("\n", 0, step.offset)
            _run_step(step, runner)
    except (BrokenPipeError, Leave):
        raise
    except IncludeFailed:
        return False
    except Exception as error:  # noqa: BLE001 - what is not an error of ours is a bug; neither shows a traceback
        runner.console.error(error, script.place(start[0]), start)
        return False
    return True


def _run_step(step: Step, runner: Runner) -> None:
    if step.is_command:
        from pinakes.cli.commands import run_command

        run_command(step.text, runner, step.buffer)
    else:
        runner.desk.last = step.text
        runner.run(step.text)
