"""Tables and functions of workers in a plan: scans with pushdown, delegated tables, functions by their
qualified names.
"""
