"""Writes to Iceberg tables: data files, delete files and commits."""
