"""An Iceberg catalog in a relational database, readable by Java's JdbcCatalog and pyiceberg's SqlCatalog. The catalog
types with their options are `providers/sqlite.py` and `providers/jdbc.py`.

`catalog.py` owns the behaviour, with `rows.py` (shared by tables and views), `views.py`, `namespaces.py` and
`metadata_files.py`. `store.py` is the interface of a store; `sql_store.py` implements it over a `database.py`: a SQLite
file (`sqlite.py`) or a server (`server_database.py` with the `driver.py` of `postgres.py` or `mysql.py`). `adapter.py`
makes a catalog of the engine of it.
"""
