"""Table maintenance: compacts small files, removes deleted rows, and adds existing files to tables.

`choosing.py` selects the files and `compact.py` rewrites them. The procedures that call this package are in
`procedures/`.
"""
