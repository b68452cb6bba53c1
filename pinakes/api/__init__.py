"""The Python API: `connection.py` (read first), cursors, relations; `build.py` creates the engine."""
