"""Spark, the engine for what outgrows one machine. The only door to pyspark; start reading at `remote.py`."""
