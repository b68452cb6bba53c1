"""An Iceberg catalog in a relational database, readable by Java's JdbcCatalog and pyiceberg's SqlCatalog.

`catalog.py` owns the behaviour, with `rows.py` (what tables and views share), `views.py`, `namespaces.py` and
`metadata_files.py`. `store.py` says what is asked of a database; `sql_store.py` answers it in SQL, on a SQLite file
(`sqlite.py`) or on a server (`server_database.py`, with `postgres.py` and `mysql.py`). `adapter.py` makes the whole a
catalog of the engine.
"""
