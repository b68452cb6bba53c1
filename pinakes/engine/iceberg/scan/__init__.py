"""Iceberg table scans: converts table descriptions to DataFusion scans."""
