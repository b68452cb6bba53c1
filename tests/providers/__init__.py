"""Catalog types: one suite for stores, one for catalogs, each run over all of their kind."""
