"""The shell's connection to a Flight SQL server of ours: calls, login, results, completion and errors. DataFusion is
not loaded here, and the server's side is in `flight`.

Start at `shell_backend.py`; `wire.py` makes the calls.
"""
