"""COPY … TO: options, writers of each format, partitions, and targets that appear completely or not at all. Files of
Iceberg tables are written in `engine/iceberg/write`.
"""
