"""Statements of other dialects of SQL (`SET dialect`) as ours: text → sqlglot's tree of that dialect → our text.

`read.py` makes the tree, with calls of functions as they are written. `rules.py` and the module of each dialect decide
about every kind of node and every function: it has the same meaning here, it is rewritten, or it is refused by name.
`write.py` prints the tree. `statement.py` does that with the parts of a statement that dialects write differently, and
`positions.py` finds the place of an error in the text of the user. What is not known is refused, never passed on.
"""
