"""EXPLAIN FULL: facts of a plan are collected (`collect.py`) into one tree (`facts.py`), and shown as rows or JSON."""
