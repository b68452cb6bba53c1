"""Translates planned text to Spark's SQL, so that Spark returns what DataFusion would; forms without an exact
translation are refused. Sessions of Spark belong to `pipeline`. Start at `translate.py`.
"""
