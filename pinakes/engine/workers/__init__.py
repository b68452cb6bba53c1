"""Tables and functions of workers in a plan: scans with push-down, delegated tables, functions by their full names."""
