"""Forms of FROM and of whole queries that DataFusion lacks, written out as plain SQL before a statement is parsed:
PIVOT, UNPIVOT, ASOF JOIN, EXCLUDE of a frame, LIMIT … PERCENT and WITH TIES. The rest of the parser sees the plain text
only, so names are resolved as anywhere. Forms that can be rewritten at their place are in `parser/syntax/`.
"""

STARTS = frozenset({"PIVOT", "PIVOT_WIDER", "UNPIVOT", "PIVOT_LONGER"})
"""First words of statements."""
WORDS = STARTS | {"ASOF", "EXCLUDE", "PERCENT", "%", "TIES"}
"""A text without these words has none of the forms."""
NAME_OF = "$column_name"
"""A call that stands for the name of a column as its table has it (`parser/workarounds/rewrite.py`)."""
READ_TWICE = 'AS "$u") AS "$w"'
"""A part of the text of ASOF JOIN, which reads its sides twice."""
