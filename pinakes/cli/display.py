"""Display settings of results: `\\x`, `\\timing` and `\\pset` change them."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Literal, TextIO

Expanded = Literal["off", "on", "auto"]


@dataclass
class Display:
    expanded: Expanded = "off"
    """One column per line; `auto` does so for rows that are too wide for a table."""
    timing: bool = False
    """Whether the execution time is printed."""
    pager: bool = False
    """Whether output that exceeds the screen goes through a pager."""
    fit: bool = True
    """Whether a table is fitted to the terminal."""


def is_coloured(out: TextIO) -> bool:
    """Whether the output is a terminal that supports colours, and NO_COLOR is not set."""
    return out.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM", "dumb") != "dumb"
