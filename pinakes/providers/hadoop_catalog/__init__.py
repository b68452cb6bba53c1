"""Iceberg's HadoopCatalog: a table is a directory, and its newest numbered metadata file is its current state.

`versions.py` finds the newest file, `warehouse.py` lists directories, local and on object stores, `local.py` changes
them, `tree.py` has the rules of namespaces and tables, and `catalog.py` is the pyiceberg catalog.
"""
