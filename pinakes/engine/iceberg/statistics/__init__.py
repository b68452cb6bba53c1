"""Table statistics: the number of distinct values per column. The entry point is `analyze.py`."""
