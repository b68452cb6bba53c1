"""Spark as the remote engine, and pipelines that run on it; the only package that imports pyspark. Translation of SQL
belongs to `parser/spark`, engine selection to `engine/remote`. Start at `remote.py`.
"""
