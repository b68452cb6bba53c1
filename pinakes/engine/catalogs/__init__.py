"""The mounted catalogs: registry, mounts, options of ATTACH, secrets, and privileges in `authorization`. Catalog types
belong to `providers`.
"""
