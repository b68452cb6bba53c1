"""Tables and functions of workers in a plan: scans with pushdown, delegated tables, functions by their full names. The
catalog type is `providers/vgi`, the protocol `worker`.
"""
