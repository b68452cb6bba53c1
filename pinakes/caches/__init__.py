"""What is remembered between statements. `base.py` is the cache, one module per use; providers know none of it."""
