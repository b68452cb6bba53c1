"""Iceberg's HadoopCatalog: tables are directories, and the newest numbered metadata file in one is the table.

`versions.py` tells which file is the newest, `warehouse.py` lists directories, here and on object stores, `local.py`
changes them, `tree.py` has the rules of namespaces and tables, and `catalog.py` makes a pyiceberg catalog of it.
"""
