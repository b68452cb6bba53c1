"""Planned text → Spark's SQL: what DataFusion would answer, said so that Spark answers the same, or refused.

Start reading at `translate.py`.
"""
