"""What every other package uses: errors, names, types, values and the catalog interface. It imports no other package of
ours, and nothing here opens a catalog or runs a statement.
"""
