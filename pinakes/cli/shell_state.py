"""What the statements and commands of one shell or script leave for those that follow."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal


@dataclass
class Desk:
    last: str = ""
    """The statement that was run last: what `\\g` runs again, `\\p` prints and `\\e` edits."""
    drafted: str = ""
    """Text that the next prompt begins with."""
    depth: int = 0
    """How many files with `\\i` one is in."""
    editing: Literal["emacs", "vi"] = "emacs"
    typed: Callable[[], Sequence[str]] | None = None
    """The history, oldest first; None where nobody types."""


class Leave(Exception):
    """`\\q`: the script or the shell ends here, and nothing is wrong."""


class IncludeFailed(Exception):
    """An included file failed and has said so: whoever included it ends as well."""
