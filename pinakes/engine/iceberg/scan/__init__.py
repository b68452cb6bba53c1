"""Table descriptions become scans: what DataFusion reads when a query names an Iceberg table."""
