"""Files as tables: `access.py` says which files SQL may touch; the rest turns paths into rows and rows into files."""
