"""The tables of `information_schema` and `system`: one module declares a table, its columns and its rows (`base.py`).
How a plan reads them belongs to `engine/system`.

`registry.py` finds them by name; `catalog_metadata/` calls the catalogs for what a query needs and no more. To add one:
docs/how-to/explore-metadata.md.
"""
