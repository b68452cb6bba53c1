"""Spark, the engine for data that exceeds one machine. The only package that imports pyspark; start reading at
`remote.py`."""
