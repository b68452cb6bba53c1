"""Statistics of tables: how many different values columns have. `analyze.py` is where it begins."""
