"""Defects of DataFusion that a change of the text makes good, one module each.

Each has a test in `tests/workarounds` that runs DataFusion alone and fails once a version of it has no such defect.
`rewrite.py` applies those that need the tree of a planned text. What needs types is in `parser/typed`, what needs a
plan in `engine/datafusion/workarounds/join_filter_columns.py` and
`engine/datafusion/workarounds/correlated_subqueries.py`.
"""
