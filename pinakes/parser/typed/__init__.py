"""Reads planned text with exact positions and types, and rewrites what DataFusion 55 would compute with the wrong
types. Forms that are wrong for every type belong to `parser/workarounds`.
"""

import secrets

ROUNDED = "$rounded"
"""Rounds a double to the nearest integer, ties to even."""
NONZERO = "$nonzero"
"""Returns a divisor, and reports zero (`engine/datafusion/checked_functions.py`). Defined here, since loading the
rest of this package takes time that SELECT 1 does not need.
"""
ONE_ROW = "$one_row"
"""Returns true for a number of rows that is at most 1, and reports more: the rows of a scalar subquery."""
NANOSECONDS = "$nanoseconds"
"""Returns the length of an interval in nanoseconds, with 30 days per month, as DECIMAL(38, 0)."""
SERIES = "$series"
"""range() and generate_series() of integers, as a list (`engine/datafusion/bounded_functions.py`, as all that
follow).
"""
STEPS = "$steps"
"""Returns the step of a series of times, and reports one that makes the series too long."""
WEIGHED = "$weighed"
"""Returns values, and reports those whose size times a factor is too large."""
SHORT = "$short"
"""Returns texts, and reports those with more than a given number of bytes."""
PATTERN = "$pattern"
"""Returns patterns, and reports those that are too long or too complex."""
SQUARES = "$squares"
"""Returns texts, and reports those that are too long for a comparison character by character."""
GATHERED = "$gathered"
"""Returns the values of an aggregate that keeps them all, and reports when they exceed a number of bytes. The
second argument is the number of the aggregate, which is unique for each plan.
"""
WIDE = "$wide"
"""Returns values, and reports those that are too long for the batches of their plan."""
WIDEST = str(10**17 + secrets.randbelow(9 * 10**17))
"""Stands in a text for the bytes that a value of its plan may have, until the rows of a batch are known. It is drawn
for each process, so that a statement does not have it by chance.
"""
ARROW = ") -> ("
"""Separates the parameter of a lambda from its body in the text that is planned (`lambdas.py`)."""
LATE = " late"
"""The suffix of functions that are not evaluated during planning, even for constant arguments."""
