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


_CHOOSES = re.compile(
    r"\b(?:Limit: |WindowAggr: |Sort: [^\n]*fetch=|DistinctOn: )"
    r"|\b(?:first_value|last_value|nth_value|array_agg|string_agg)\("
)
"""Parts of a plan that may choose other rows, or another order, of equal ones."""


def is_steady(shown: str) -> bool:
    """Of a plan as DataFusion shows it."""
    return _UNSTEADY.search(shown) is None


def is_repeatable(shown: str) -> bool:
    """Returns whether a plan, as DataFusion shows it, gives the same rows when a statement reads it twice."""
    return is_steady(shown) and _CHOOSES.search(shown) is None
