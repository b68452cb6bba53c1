"""The semantics matrix: expressions over every pair of types, answered here, by PostgreSQL and by Spark.

`operands.py` has the types and their values, `operations.py` what is done with them, `cases.py` the cases that follow,
`engines.py` runs them, and `differences.toml` lists the differences that are meant.
"""
