"""Maintenance of Iceberg tables: compaction, delete files, manifests, and foreign files that are added. The procedures
that users call are in `engine/procedures`.

`choosing.py` selects files, `compact.py` rewrites them.
"""
