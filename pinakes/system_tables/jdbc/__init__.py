"""system.jdbc: the metadata that JDBC drivers read (DatabaseMetaData)."""

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
