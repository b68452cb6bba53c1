"""system.metadata: what the catalogs know of their tables beyond the standard, and what went wrong when asked."""

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
