"""Iceberg's HadoopCatalog: a table is a directory, and the newest numbered metadata file in it is the table. The
catalog type with its options is `providers/hadoop.py`.

`versions.py` finds the newest file, `warehouse.py` lists directories, local and on object stores, `local.py` changes
them, `tree.py` has the rules of namespaces and tables, and `catalog.py` makes a pyiceberg catalog of them.
"""
