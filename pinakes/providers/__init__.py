"""The catalog types, one module or package each, listed in `registry.py`. They return metadata and commit changes of
it; plans, caching and privileges belong to other packages.
"""
