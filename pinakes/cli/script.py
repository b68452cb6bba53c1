"""Scripts: texts of several statements, run in order. The first that fails ends them, with its line."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from pinakes.cli.runner import Runner

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
    """The script in a file, or in stdin for `-`. OSError and UnicodeDecodeError are the caller's to report."""
    if path == STDIN:
        return Script(sys.stdin.read(), "<stdin>")
    return Script(Path(path).read_text(encoding="utf-8-sig"), path)


def run_script(script: Script, runner: Runner) -> bool:
    """Run a script's statements in order; False when one failed, which ends it."""
    from pinakes.parser import split

    start = (1, 1)
    try:
        for part in split(script.text):
            start = part.line, part.offset - script.text.rfind("\n", 0, part.offset)
            runner.run(part.text)
    except BrokenPipeError:
        raise
    except Exception as error:  # noqa: BLE001 - what is not an error of ours is a bug; neither shows a traceback
        runner.console.error(error, script.place(start[0]), start)
        return False
    return True
