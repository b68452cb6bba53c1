"""system.metadata: what catalogs know about tables beyond the SQL standard, and errors of reading it. Metadata of
Iceberg alone belongs to `system_tables/iceberg`.
"""

TABLES: tuple[str, ...] = (
    "catalogs",
    "errors",
    "functions",
    "property_definitions",
    "schema_properties",
    "table_comments",
    "table_properties",
    "tags",
)
