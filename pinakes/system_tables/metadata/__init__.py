"""system.metadata: metadata of catalogs and tables beyond the standard, and metadata errors."""

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
