"""information_schema: schemas, tables, columns and views as the SQL standard defines them. What the standard does not
define belongs to `system_tables/metadata`.
"""

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
