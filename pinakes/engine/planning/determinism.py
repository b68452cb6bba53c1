"""Whether a plan gives the same each time it is run over the same rows."""

from __future__ import annotations

import re

_UNSTEADY = re.compile(
    r"\b(rand|random(?!\(\) >= \w+\(-1\))|uuid|now|current_\w+|today|localtime\w*|input_file_name|file_row_index)\("
    r"|\$worker\d+\(|\$gathered\b",
    re.IGNORECASE,
)
"""Functions that may give something else each time; those of the clock, too, as each plan has its own moment; and those
of workers, whose streams belong to one statement; and the one that counts the bytes of an aggregate. A random number
that is at least -1 is the condition that `parser/workarounds/scalar_subqueries.py` writes."""


def is_steady(shown: str) -> bool:
    """Of a plan as DataFusion shows it."""
    return _UNSTEADY.search(shown) is None
