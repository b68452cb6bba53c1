"""Tables that other engines read and write, too: pyiceberg, DuckDB with its iceberg extension, Spark with Iceberg."""
