"""Opens files of each format as a source for DataFusion: options, schemas, types detected from samples, batches. Paths
are resolved in `engine/files/paths.py` before; `engine/files/tables.py` selects the format.
"""
