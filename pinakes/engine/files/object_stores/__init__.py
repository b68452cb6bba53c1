"""Object stores by path: the secret of a path, a file system opened with it, listings and errors. Formats are read in
`engine/files/reading`; storage of Iceberg tables belongs to `providers/`.
"""
