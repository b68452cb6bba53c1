"""An Iceberg catalog in a relational database, compatible with Java's JdbcCatalog and pyiceberg's SqlCatalog.

`catalog.py` has the behaviour, with `rows.py` (shared by tables and views), `views.py`, `namespaces.py` and
`metadata_files.py`. `store.py` is the interface of a store; `sql_store.py` implements it in SQL on the interface of
`database.py`: a SQLite file (`sqlite.py`) or a server (`server_database.py`, with the `driver.py` that is `postgres.py`
or `mysql.py`). `adapter.py` adapts it to the engine.
"""
