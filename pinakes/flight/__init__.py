"""The Flight SQL server: the engine for clients on the wire. Read `server.py` first. Only this knows pyarrow.flight."""
