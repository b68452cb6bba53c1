"""An Iceberg catalog in a relational database, readable by Java's JdbcCatalog and pyiceberg's SqlCatalog.

`catalog.py` owns the behaviour, with `rows.py` (what tables and views share), `views.py`, `namespaces.py` and
`metadata_files.py`; `store.py` says what is asked of a database, and `sqlite.py` answers it. `adapter.py` makes the
whole a catalog of the engine.
"""
