"""Changes of Iceberg tables: rows become data files, and data files become one commit. Statements are parsed and
planned by other packages; catalogs commit through `providers`.
"""
