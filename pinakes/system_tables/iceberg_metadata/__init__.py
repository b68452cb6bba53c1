"""Reads the metadata of Iceberg tables for the tables of `system.iceberg` and for SHOW STATS: manifests, files,
partitions, statistics. The tables are declared in `system_tables/iceberg`; scans read manifests in
`engine/iceberg/scan`."""
