"""What every other package uses: errors, names, types, the catalog interface, settings and configuration. It imports no
other package of ours, and nothing here opens a catalog or runs a statement.
"""
