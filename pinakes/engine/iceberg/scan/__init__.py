"""Reading Iceberg tables: manifests, pruning of files, delete files, and the scans that DataFusion executes. Writing
belongs to `engine/iceberg/write`.
"""
