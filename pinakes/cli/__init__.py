"""The command line: `main.py` parses the arguments, `script.py` runs statements, `shell.py` is the interactive
shell."""
