"""How results are shown on this terminal: what `\\x`, `\\timing` and `\\pset` change."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Literal, TextIO

Expanded = Literal["off", "on", "auto"]


@dataclass
class Display:
    expanded: Expanded = "off"
    """Rows one below the other; `auto` does so when they are too wide for a table."""
    timing: bool = False
    """Whether the time that a statement took is said."""
    pager: bool = False
    """Whether what is more than a screenful goes through a pager."""
    fit: bool = True
    """Whether a table is made to fit the terminal, or all of it is printed."""


def is_coloured(out: TextIO) -> bool:
    """Whether colours may be sent there: a terminal that knows them, of somebody who wants them."""
    return out.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM", "dumb") != "dumb"
