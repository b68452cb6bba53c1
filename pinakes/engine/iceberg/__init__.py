"""Iceberg tables: scans, writes, maintenance, statistics and branches. Catalog types and fixes of pyiceberg belong to
`providers`.
"""
