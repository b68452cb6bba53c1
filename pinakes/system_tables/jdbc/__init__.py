"""system.jdbc: the tables that JDBC drivers read for the metadata of a connection. Their columns follow JDBC, so
nothing else is added here.
"""

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
