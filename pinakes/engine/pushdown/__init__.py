"""Placeholder scans, and the predicates that an optimised plan pushes to each of them. Pruning by these predicates is
done by the source: `engine/iceberg/scan`, `engine/system`, `engine/workers`.
"""
