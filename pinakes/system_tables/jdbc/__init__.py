"""system.jdbc: the answers to what JDBC drivers ask of a connection's metadata."""

TABLES: tuple[str, ...] = (
    "attributes",
    "catalogs",
    "columns",
    "procedure_columns",
    "procedures",
    "pseudo_columns",
    "schemas",
    "super_tables",
    "super_types",
    "table_types",
    "tables",
    "types",
    "udts",
)
