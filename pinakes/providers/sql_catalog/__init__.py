"""An Iceberg catalog in a relational database, readable by Java's JdbcCatalog and pyiceberg's SqlCatalog.

`catalog.py` owns the behaviour, with `rows.py` (what tables and views share), `views.py`, `namespaces.py` and
`metadata_files.py`. `store.py` says what is asked of a store; `sql_store.py` answers it in SQL, by what `database.py`
asks of a database: a SQLite file (`sqlite.py`) or a server (`server_database.py`, with the `driver.py` that is
`postgres.py` or `mysql.py`). `adapter.py` makes the whole a catalog of the engine.
"""
