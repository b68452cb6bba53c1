"""ANALYZE: the number of distinct values of columns, computed and written as Puffin sketches. Start at `analyze.py`;
reading the counts is in `core/iceberg_metadata.py`.
"""
