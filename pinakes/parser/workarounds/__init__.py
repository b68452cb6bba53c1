"""Workarounds for DataFusion defects that a change of the text fixes, one module each.

Each has a test in `tests/workarounds` that runs DataFusion alone and fails once a version fixes the defect.
`rewrite.py` applies those that need the tree of a planned text. Workarounds that need types are in `parser/typed`,
those that need a plan in `engine/datafusion/workarounds/join_filter_columns.py` and
`engine/datafusion/workarounds/correlated_subqueries.py`.
"""
