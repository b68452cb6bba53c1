"""A client of Iceberg REST catalogs: pyiceberg's, over connections of ours.

`http.py` sends requests with time-outs, bounded retries and errors of ours; `login.py` says who asks; `client.py` is
pyiceberg's catalog with what it lacks, `views.py` the changes of views.
The catalog type is `providers/iceberg_rest.py`.
"""
