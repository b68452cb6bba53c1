"""Iceberg tables: scans, writes, maintenance and statistics. Catalog types are in `providers`."""
