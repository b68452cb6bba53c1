"""Placeholder scans, predicates as values, and what an optimised plan asks of each placeholder. The sources answer:
`engine/iceberg/scan`, `engine/system`, `engine/workers`.
"""
