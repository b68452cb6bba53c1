"""A statement while it runs: its record in the tracker, admission, deadlines, cancellation and the result cache.
Planning and reading of files belong to other packages.
"""
