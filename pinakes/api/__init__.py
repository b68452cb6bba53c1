"""The Python API: `connect()`, DB-API cursors, relations; `build.py` creates an engine from a configuration. Planning
and catalogs belong to `engine`, terminals to `cli`. Start at `connection.py`.
"""
