"""Values, columns and rows as text, printed the same way in every format, and text that is safe on a terminal. The
formats of the command line are in `cli/formats`.
"""
