"""Spark as a remote engine: local Spark Connect servers, sessions, catalogs, results. The only package that imports
pyspark. Translation of SQL belongs to `parser/spark`, engine selection to `engine/remote`. Start at `remote.py`.
"""
