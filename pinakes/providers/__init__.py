"""Catalog types: one module each, one line each in `registry.py`. They return metadata, never plans."""
