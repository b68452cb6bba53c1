"""Workarounds for defects of DataFusion that a change of the text avoids, one module each; `rewrite.py` applies those
that need the tree of the text. What needs types belongs to `parser/typed`, what needs a plan to
`engine/datafusion/workarounds`.

Each has a test in `tests/workarounds` that runs DataFusion alone and fails when DataFusion has fixed the defect.
"""
