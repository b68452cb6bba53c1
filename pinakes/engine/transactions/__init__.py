"""BEGIN … COMMIT: an overlay over one catalog whose changes become visible together. A single commit of one table
belongs to `engine/iceberg/write`. Start at `transaction.py`.
"""
