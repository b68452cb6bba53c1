"""EXPLAIN FULL: `collect.py` collects the facts of a plan into one tree (`facts.py`), shown as rows or JSON. It reports
decisions of other packages and makes none.
"""
