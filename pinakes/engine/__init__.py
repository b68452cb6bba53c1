"""From a statement to its result; the only package that imports DataFusion. Catalog types belong to `providers`, wire
formats to `flight`. Start at `run.py`.
"""
