"""What all catalog types of Iceberg tables share: the adapter of pyiceberg's catalogs, access to files, storage
properties, views, error translation, and in `v3` the parts of format version 3 that pyiceberg lacks. How tables are
scanned and written belongs to `engine/iceberg`.
"""
