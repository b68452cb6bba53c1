"""information_schema: schemas, tables, columns and views as in the SQL standard, as far as clients read it."""

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
