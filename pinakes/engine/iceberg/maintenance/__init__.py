"""How a table's files are kept in good form: small ones become large ones, deleted rows go, foreign files come in.

`choosing.py` says which files, `compact.py` writes them anew; the procedures that ask for it are in `procedures/`.
"""
