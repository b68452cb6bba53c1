"""Reads planned text with exact places and types, and rewrites what DataFusion 55 would compute with the wrong types.

What belongs here: rules that need to know the type of an expression. Forms that are wrong whatever their types are
stand in `parser/workarounds`.
"""

ROUNDED = "$rounded"
"""The function that rounds a double to the next whole number, ties to the even one."""
NONZERO = "$nonzero"
"""The function that returns a divisor, and reports one that is zero (`engine/datafusion/checked_functions.py`). It
stands here, since loading the rest of this package takes time that SELECT 1 does not need."""
SERIES = "$series"
"""range() and generate_series() of integers, as a list (`engine/datafusion/bounded_functions.py`, as all that
follow)."""
STEPS = "$steps"
"""Gives back the step of a series of times, and reports one with which the series would be too long."""
WEIGHED = "$weighed"
"""Gives back values, and reports those of which a result of so many times their size would be too large."""
SHORT = "$short"
"""Gives back texts, and reports those that have more than so many bytes."""
SQUARES = "$squares"
"""Gives back texts, and reports those that are too long to be compared character by character."""
GATHERED = "$gathered"
"""Gives back the values of an aggregate that keeps them all, and reports when they are too many bytes. The second
argument is the number of the aggregate, which is another one for each plan."""
LATE = " late"
"""The end of the names of functions that are not computed while a statement is planned, though their arguments are
constants."""
