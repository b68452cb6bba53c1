"""What is kept between statements: the caches, grouped by what they keep, their memory budget, and the caching catalog
that wraps any other. Loading is done by callers, and providers do not know that they are cached. Start at `cache.py`.
"""
