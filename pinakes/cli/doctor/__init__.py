"""`pinakes doctor`: what works here, what does not, and what to do about it.

`run.py` (read first) asks each group of checks in turn, one module each; `finding.py` is what a check finds,
`report.py` prints all of it. No check raises: one that fails by itself is a problem like any other.
"""
