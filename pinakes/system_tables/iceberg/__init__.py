"""system.iceberg: the metadata of Iceberg tables, for every table of every catalog. Metadata that all kinds of tables
have belongs to `system_tables/metadata`.

The same tables exist for one table at a time, as `catalog.schema."table$snapshots"` (`SUFFIXES`), without the columns
that name the table (`system_tables/iceberg_metadata/declaration.py`).
"""

TABLES: tuple[str, ...] = (
    "all_entries",
    "all_manifests",
    "entries",
    "files",
    "history",
    "manifests",
    "metadata_log",
    "partitions",
    "properties",
    "refs",
    "snapshots",
)

SUFFIXES: dict[str, str] = {
    "all_entries": "all_entries",
    "all_manifests": "all_manifests",
    "entries": "entries",
    "files": "files",
    "history": "history",
    "manifests": "manifests",
    "metadata_log_entries": "metadata_log",
    "partitions": "partitions",
    "properties": "properties",
    "refs": "refs",
    "snapshots": "snapshots",
}
"""The metadata table by its suffix after the $."""
