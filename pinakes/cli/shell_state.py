"""State that statements and commands of a shell or script leave for later ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal


@dataclass
class ShellState:
    last: str = ""
    """The last statement: `\\g` runs it again, `\\p` prints it and `\\e` edits it."""
    drafted: str = ""
    """The initial text of the next prompt."""
    depth: int = 0
    """The nesting depth of `\\i`."""
    editing: Literal["emacs", "vi"] = "emacs"
    typed: Callable[[], Sequence[str]] | None = None
    """The history, oldest first; None in a script."""


class Leave(Exception):
    """`\\q`: ends the script or the shell without an error."""


class IncludeFailed(Exception):
    """An included file failed and has reported it: the including script ends, too."""
