"""Files as tables: `access.py` restricts the files that SQL may access; the rest reads and writes them."""
