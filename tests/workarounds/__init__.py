"""Defects of DataFusion that are worked around: each test fails once an upgrade has mended one."""
