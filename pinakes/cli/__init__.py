"""The command line: `main.py` reads the arguments, `script.py` runs statements, `shell.py` is the prompt."""
