"""`pinakes doctor`: checks the installation and gives advice.

`run.py` (read first) runs the groups of checks, one module each; `finding.py` defines the result of a check,
`report.py` prints the results. A check that raises is reported as a problem.
"""
