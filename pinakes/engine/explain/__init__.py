"""EXPLAIN FULL: `collect.py` collects the facts of a plan in one tree (`facts.py`), which is shown as rows or JSON."""
