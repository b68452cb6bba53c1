"""The command line: arguments (`main.py`), scripts (`script.py`), the prompt (`prompt/shell.py`) and subcommands. What
a Python program or a notebook needs as well belongs to `api`."""
