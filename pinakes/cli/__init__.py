"""The command line: arguments (`main.py`), scripts (`script.py`) and the prompt (`shell.py`). What a Python program or
a notebook needs as well belongs to `api`.
"""
