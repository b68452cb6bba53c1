"""Reads planned text with exact places and types, and rewrites what DataFusion 55 would compute with the wrong types.

What belongs here: rules that need to know the type of an expression. Forms that are wrong whatever their types are
stand in `parser/workarounds`.
"""

ROUNDED = "$rounded"
"""The function that rounds a double to the next whole number, ties to the even one."""
NONZERO = "$nonzero"
"""The function that returns a divisor, and reports one that is zero (`engine/checked_functions.py`). It stands here,
since loading the rest of this package takes time that SELECT 1 does not need."""
