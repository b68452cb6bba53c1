"""System tables: information_schema, system.jdbc, system.metadata, …

Each table is declared in one small file (`base.py`): its columns, each with a description, and the source of its rows.
`registry.py` finds them by name; `listing.py` and `loading.py` request from the catalogs only the metadata that a query
needs. The engine makes them queryable (`engine/system`). To add one: docs/system-tables.md.
"""
