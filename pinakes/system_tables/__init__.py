"""The tables that describe everything else: information_schema, system.jdbc, system.metadata, …

One table is one small file that declares it (`base.py`): its columns, each with a sentence, and where its rows come
from. `registry.py` finds them by name, `listing.py` and `loading.py` ask the catalogs for what a query wants and no
more. The engine makes them queryable (`engine/system`). To add one: docs/system-tables.md.
"""
