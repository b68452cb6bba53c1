"""Parses planned text with exact offsets and types, and rewrites expressions that DataFusion 55 computes with wrong
types.

Rules that need the type of an expression belong here. Forms that are wrong for all types are in `parser/workarounds`.
"""

ROUNDED = "$rounded"
"""Rounds a double to the nearest integer, ties to even."""
NONZERO = "$nonzero"
"""Returns a divisor, and reports zero (`engine/datafusion/checked_functions.py`). Defined here, since loading the
rest of this package takes time that SELECT 1 does not need.
"""
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
SQUARES = "$squares"
"""Returns texts, and reports those that are too long for a comparison character by character."""
GATHERED = "$gathered"
"""Returns the values of an aggregate that keeps them all, and reports when they exceed a number of bytes. The
second argument is the number of the aggregate, which is unique for each plan.
"""
LATE = " late"
"""The suffix of functions that are not evaluated during planning, even for constant arguments."""
