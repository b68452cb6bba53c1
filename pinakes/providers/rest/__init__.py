"""A client of Iceberg REST catalogs: pyiceberg's client over our connections. The catalog type with its options is
`providers/iceberg_rest.py`.

`http.py` sends requests with time-outs, bounded retries and our errors; `login.py` obtains tokens; `client.py` adds
what pyiceberg's catalog lacks, `views.py` changes of views.
"""
