"""Translates planned text to Spark SQL with the same results as DataFusion, or refuses it.

Start reading at `translate.py`.
"""
