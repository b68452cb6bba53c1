"""Caches that live across statements. `base.py` has the cache, with one module per use; providers do not depend on
them.
"""
