"""Mounted catalogs: the registry, ATTACH and its options, secrets, and who may do what with them."""
