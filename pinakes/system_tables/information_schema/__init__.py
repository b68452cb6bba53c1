"""information_schema: what SQL's standard says of schemas, tables, columns and views, and what clients read of it."""

TABLES = (
    "check_constraints",
    "columns",
    "key_column_usage",
    "schemata",
    "table_constraints",
    "table_privileges",
    "tables",
    "views",
)
