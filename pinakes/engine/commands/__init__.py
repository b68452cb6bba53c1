"""One module per statement kind, named after it. `engine/dispatch.py` says which kind goes where."""
