"""A client of Iceberg REST catalogs: pyiceberg's, over our own connections.

`http.py` sends requests with timeouts, bounded retries and Pinakes errors; `login.py` authenticates them; `client.py`
is pyiceberg's catalog with additions, `views.py` the changes of views. The catalog type is `providers/iceberg_rest.py`.
"""
